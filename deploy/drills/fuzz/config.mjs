/** Operations that end the session, so they get a session of their own. */
const LEAVING = ["logout"];

/** Authentication of a pass, which selects its operations. Every operation belongs to one pass. */
export const WAYS = /** @type {const} */ (["key", "session", "ending session"]);
/** @typedef {typeof WAYS[number]} Way */

/** @param {Operation} operation @returns {Way} */
export const wayOf = ({ operationId, session }) => {
  if (LEAVING.includes(operationId)) return "ending session";
  return session ? "session" : "key";
};

/** Operations whose resources don't come from earlier responses: a workflow is a public playground only if its settings say so. */
const UNLINKED = ["getPublicSchema"];

/** Operations with a documented 500, which means that the run failed, not the service. */
const RUNS = ["runWorkflow", "runModel"];

/** Operations by the resource in their `{id}`. */
const RESOURCE = /^\/api\/(?:admin\/)?(\w+)\/\{id\}/;

/** Allowed responses to valid requests. */
const ANSWERS = ["2xx", "304", "400", "401", "402", "403", "404", "409", "412", "422", "429", "500"];

const METHODS = ["get", "post", "put", "patch", "delete"];

/** @typedef {{ path: string, method: string, operationId: string, session: boolean }} Operation */

/** @param {any} document @returns {Operation[]} */
export const operationsOf = (document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in /** @type {object} */ (methods)).map((method) => {
      const { operationId, security } = /** @type {any} */ (methods)[method];
      return { path, method, operationId, session: security.length === 1 && "session" in security[0] };
    }),
  );

/** TOML and JSON share strings, numbers, booleans and lists. @param {unknown} value */
const toml = (value) => JSON.stringify(value);

/** @param {string} slug */
const dictionaryName = (slug) => slug.replaceAll(/\W/g, "_");

/**
 * @typedef {object} Pass
 * @property {string} baseUrl
 * @property {{ apiKey: string } | { session: string }} auth by the document's security schemes
 * @property {Record<string, string>} headers
 * @property {string[]} operationIds operations of the pass
 * @property {Record<string, string[]>} known existing resources by parameter
 * @property {number} maxExamples
 * @property {string} hooks path of the hooks' module
 */

/** Settings of one pass. @param {any} document @param {Pass} pass */
export const configOf = (document, { baseUrl, auth, headers, operationIds, known, maxExamples, hooks }) => {
  const lines = [
    `base-url = ${toml(baseUrl)}`,
    `hooks = ${toml(hooks)}`,
    "continue-on-failure = true",
    "[headers]",
    ...Object.entries(headers).map(([name, value]) => `${name} = ${toml(value)}`),
    ...Object.entries(auth).map(([scheme, value]) => `[auth.openapi.${scheme}]\napi_key = ${toml(value)}`),
    "[checks]",
    // The drill's own check judges a 400. Other statuses depend on stored data.
    `positive_data_acceptance = { expected-statuses = ${toml(ANSWERS)} }`,
    "[generation]",
    `max-examples = ${maxExamples}`,
    'database = "none"',
    ...Object.entries(known).flatMap(([name, values]) => [`[dictionaries.${dictionaryName(name)}]`, `values = ${toml(values)}`]),
  ];
  for (const { path, operationId } of operationsOf(document)) {
    const isEnabled = operationIds.includes(operationId);
    lines.push("[[operations]]", `include-operation-id = ${toml(operationId)}`, `enabled = ${isEnabled}`);
    if (!isEnabled) continue;
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => {
      const source = name === "id" ? `${RESOURCE.exec(path)?.[1]}.id` : /** @type {string} */ (name);
      return known[source] ? [`"path.${name}" = { dictionary = ${toml(dictionaryName(source))}, probability = 0.7 }`] : [];
    });
    if (parameters.length > 0) lines.push("[operations.parameters]", ...parameters);
    if (RUNS.includes(operationId))
      lines.push("[operations.checks]", 'not_a_server_error = { expected-statuses = ["2xx", "3xx", "4xx", "500"] }');
    if (UNLINKED.includes(operationId)) lines.push("[operations.phases.stateful]", "enabled = false");
  }
  return `${lines.join("\n")}\n`;
};
