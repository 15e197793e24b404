import type { Entry } from "../site/contents";
import type { ApiDocument, Content, Operation, Parameter, Response } from "./document";
import { callsOf } from "./calls";
import { code, memberTable, nameOf, table, typeOf } from "./schema";

/** API reference in Markdown, one page per tag, from the OpenAPI document. */

export interface ApiPage extends Entry {
  markdown(document: ApiDocument): string;
}

const OVERVIEW = "api";
const BODY = "Body";
const SUCCESS = /^[23]/;
const COMMON_HEADERS = /^X-(?:Request-Id|RateLimit-)/;

const fileOf = (tag: string): string => `${OVERVIEW}/${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;

const operationsOf = (document: ApiDocument): { method: string; path: string; operation: Operation }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

const callers = ({ security = [] }: Operation): string => {
  const has = (name: string): boolean => security.some((way) => name in way);
  if (security.length === 0) return "Without a key.";
  return has("apiKey") ? `By API key${has("bearer") ? " (as a bearer token, too)" : ""} or session.` : "By session.";
};

const parameterTable = (parameters: readonly Parameter[]): string =>
  table(
    ["Parameter", "In", "Value", ""],
    parameters.map(({ name, in: place, required, description = "", schema }) => [
      code(name),
      place,
      `${typeOf(schema)}${required ? ", required" : ""}`,
      `${description}${"default" in schema ? ` (${code(JSON.stringify(schema.default))} unless given)` : ""}`,
    ]),
  );

/** @param schemas lists members here, even for schemas that have their own section */
const contentOf = (content: Content, what: string, schemas: ApiDocument["components"]["schemas"] = {}): string[] =>
  Object.entries(content).flatMap(([type, { schema, example }]) => {
    const members = memberTable(schemas[nameOf(schema.$ref ?? "")] ?? schema);
    const exampleBlock = example === undefined || what === BODY ? [] : [`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``];
    return [`**${what}** (\`${type}\`): ${typeOf(schema)}`, ...(members === "" ? [] : [members]), ...exampleBlock];
  });

const answer = ([status, { description, headers = {}, content = {} }]: [string, Response]): string[] => {
  const own = Object.keys(headers).filter((name) => !COMMON_HEADERS.test(name));
  const responseText = `${description}${own.length === 0 ? "" : `; headers ${own.map(code).join(", ")}`}`;
  if (Object.keys(content).length === 0) return [`**Response ${status}**: ${responseText}`];
  return [...contentOf(content, `Response ${status}`), `${responseText}.`];
};

/** Collapsed, because error codes are similar for most operations. */
const errors = (responses: readonly [string, Response][]): string[] => {
  if (responses.length === 0) return [];
  const rows = responses.map(([status, { description }]) => [status, description.replaceAll(/\n?^- /gm, "<br>").replace(/^<br>/, "")]);
  const statuses = responses.map(([status]) => status).join(", ");
  return [`<details><summary>Errors: ${statuses}</summary>`, table(["Status", "Codes and causes"], rows), "</details>"];
};

const section = (document: ApiDocument, method: string, path: string, operation: Operation): string => {
  const { summary, operationId, description, parameters = [], requestBody, responses } = operation;
  const entries = Object.entries(responses);
  return [
    `## ${summary}`,
    `${code(`${method} ${path}`)}, operation ${code(operationId)}. ${callers(operation)}`,
    ...(description === undefined ? [] : [description]),
    ...(parameters.length === 0 ? [] : [parameterTable(parameters)]),
    ...(requestBody ? contentOf(requestBody.content, BODY, document.components.schemas) : []),
    ...entries.filter(([status]) => SUCCESS.test(status)).flatMap(answer),
    ...errors(entries.filter(([status]) => !SUCCESS.test(status))),
    callsOf(method, path, operation, document.components.schemas),
  ].join("\n\n");
};

const tagPage = (document: ApiDocument, tag: string, about: string): string =>
  [
    `# API: ${tag}`,
    `${about}.`,
    ...operationsOf(document)
      .filter(({ operation }) => operation.tags.includes(tag))
      .map(({ method, path, operation }) => section(document, method, path, operation)),
  ].join("\n\n");

const overview = (document: ApiDocument): string => {
  const lists = document.tags.map(({ name, description }) => {
    const rows = operationsOf(document)
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ method, path, operation: { summary } }) => [code(method), code(path), summary]);
    return `### ${name}\n\n${description}: [${name}](${fileOf(name)}.md).\n\n${table(["", "Path", ""], rows)}`;
  });
  return [
    "# The HTTP API",
    "Every operation. The OpenAPI document at `/openapi.json`, from which these pages are made, has the same for programs; `/docs/explorer` is a page to try them.",
    document.info.description.replaceAll(/^### /gm, "## "),
    "## Operations",
    ...lists,
  ].join("\n\n");
};

const webhookPage = ({ webhooks }: ApiDocument): string =>
  [
    "# API: Webhooks",
    "Messages that Nodeloom sends to webhooks, signed by [Standard Webhooks](https://www.standardwebhooks.com).",
    ...Object.entries(webhooks).flatMap(([type, { post }]) => {
      const { summary, description, parameters = [], requestBody } = post;
      const example = Object.values(requestBody?.content ?? {})[0]?.example;
      return [
        `## ${type}`,
        `${summary}. ${description ?? ""}`,
        parameterTable(parameters),
        ...contentOf(requestBody?.content ?? {}, BODY),
        `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
      ];
    }),
  ].join("\n\n");

const schemaPage = ({ components }: ApiDocument): string =>
  [
    "# API: Schemas",
    "Objects in request and response bodies, by their names in the OpenAPI document and both clients.",
    ...Object.entries(components.schemas).flatMap(([name, schema]) => {
      const members = memberTable(schema);
      const introduction = schema.description === undefined ? [] : [schema.description];
      return [`## ${name}`, ...introduction, members === "" ? typeOf(schema) : members];
    }),
  ].join("\n\n");

/** Pages in the order of the document's tags. The document is read when a page's text is requested. */
export const apiPages = ({ tags }: Pick<ApiDocument, "tags">): ApiPage[] => [
  { path: OVERVIEW, label: "The HTTP API", about: "authentication, errors, limits, and every operation", markdown: overview },
  ...tags.map(({ name, description }) => ({
    path: fileOf(name),
    label: `API: ${name}`,
    about: description,
    markdown: (document: ApiDocument) => tagPage(document, name, description),
  })),
  { path: `${OVERVIEW}/webhooks`, label: "API: Webhooks", about: "what is sent to receivers", markdown: webhookPage },
  { path: `${OVERVIEW}/schemas`, label: "API: Schemas", about: "what bodies are made of", markdown: schemaPage },
];
