import type { Operation, Parameter, Schema } from "./document";
import { sampleOf } from "../sample";

/** Shows an operation as a call with curl and with both clients. `$BASE` is the platform's address, `$KEY` an API key. */

type Schemas = Readonly<Record<string, Schema>>;

const JSON_TYPE = "application/json";
const QUOTE = "'";

/** Quotes a text for a shell. */
const quoted = (text: string): string => `${QUOTE}${text.replaceAll(QUOTE, `'\\''`)}${QUOTE}`;

const valueOf = ({ name, schema }: Parameter, schemas: Schemas): string => {
  const example = sampleOf(schema, { schemas }, name);
  return typeof example === "string" && example !== "…" ? example : typeof example === "number" ? String(example) : `<${name}>`;
};

const isByKey = ({ security = [] }: Operation): boolean => security.some((way) => "apiKey" in way);

const credentials = (operation: Operation): string[] => {
  if ((operation.security ?? []).length === 0) return [];
  if (isByKey(operation)) return ['-H "x-api-key: $KEY"'];
  return ["-b cookies.txt", '-H "origin: $BASE"'];
};

const bodyOf = ({ requestBody }: Operation, schemas: Schemas): string[] => {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || content === undefined) return [];
  if (type !== JSON_TYPE) return ["--data-binary @picture.png", `-H 'content-type: ${type}'`];
  const example = content.example ?? sampleOf(content.schema, { schemas });
  return [`-H 'content-type: ${JSON_TYPE}'`, `-d ${quoted(JSON.stringify(example))}`];
};

const curlOf = (method: string, path: string, operation: Operation, schemas: Schemas): string => {
  const { parameters = [] } = operation;
  const inPlace = (place: Parameter["in"]): Parameter[] => parameters.filter((one) => one.in === place);
  const filled = inPlace("path").reduce((text, one) => text.replace(`{${one.name}}`, valueOf(one, schemas)), path);
  const query = inPlace("query").filter(({ required }) => required);
  const search = query.map((one) => `${one.name}=${valueOf(one, schemas)}`).join("&");
  const body = bodyOf(operation, schemas);
  const isDefault = method === (body.length > 0 ? "POST" : "GET");
  const words = [
    `curl${isDefault ? "" : ` -X ${method}`} "$BASE${filled}${search === "" ? "" : `?${search}`}"`,
    ...credentials(operation),
    ...body,
  ];
  return words.join(" \\\n  ");
};

const partsOf = (operation: Operation, schemas: Schemas): Readonly<Record<string, unknown>> => {
  const valuesIn = (place: Parameter["in"]): [string, unknown][] =>
    (operation.parameters ?? [])
      .filter((one) => one.in === place && (place === "path" || one.required))
      .map((one) => {
        const value = sampleOf(one.schema, { schemas }, one.name);
        return [one.name, typeof value === "number" ? value : valueOf(one, schemas)];
      });
  const [params, query] = [valuesIn("path"), valuesIn("query")];
  const content = operation.requestBody?.content[JSON_TYPE];
  return {
    ...(params.length === 0 ? {} : { params: Object.fromEntries(params) }),
    ...(query.length === 0 ? {} : { query: Object.fromEntries(query) }),
    ...(content === undefined ? {} : { body: content.example ?? sampleOf(content.schema, { schemas }) }),
  };
};

/** True if the clients can make the call: they authenticate by key, and their `request` sends JSON. */
const isForClients = (operation: Operation): boolean =>
  isByKey(operation) && (operation.requestBody === undefined || JSON_TYPE in operation.requestBody.content);

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

const inTypeScript = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inTypeScript).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, each]) => `${IDENTIFIER.test(name) ? name : JSON.stringify(name)}: ${inTypeScript(each)}`,
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
};

const PYTHON: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

const inPython = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inPython).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([name, each]) => `${JSON.stringify(name)}: ${inPython(each)}`)
      .join(", ")}}`;
  return PYTHON[String(value)] ?? JSON.stringify(value);
};

/** The Python client takes path parameters as strings. */
const asTexts = (params: unknown): unknown =>
  Object.fromEntries(Object.entries(params as object).map(([name, value]) => [name, String(value)]));

/** Markdown code blocks with one call each; the site shows them as tabs. */
export const callsOf = (method: string, path: string, operation: Operation, schemas: Schemas): string => {
  const blocks: [string, string][] = [["sh", curlOf(method, path, operation, schemas)]];
  if (isForClients(operation)) {
    const parts = Object.entries(partsOf(operation, schemas));
    const namedArguments = parts.map(([name, value]) => `, ${name}=${inPython(name === "params" ? asTexts(value) : value)}`).join("");
    blocks.push(["ts", `const { body } = await client.request("${operation.operationId}", ${inTypeScript(Object.fromEntries(parts))});`]);
    blocks.push(["python", `reply = client.request("${operation.operationId}"${namedArguments})`]);
  }
  return blocks.map(([language, text]) => `\`\`\`${language} call\n${text}\n\`\`\``).join("\n\n");
};
