import type { Operation, Parameter, Schema } from "./document";
import { exampleOf } from "./schema";

/** An operation as a call of curl. `$BASE` is the platform's address, `$KEY` an API key. */

const JSON_TYPE = "application/json";
const QUOTE = "'";

/** In single quotes for a shell. */
const quoted = (text: string): string => `${QUOTE}${text.replaceAll(QUOTE, `'\\''`)}${QUOTE}`;

const valueOf = ({ name, schema }: Parameter, schemas: Readonly<Record<string, Schema>>): string => {
  const example = exampleOf(schema, schemas);
  return typeof example === "string" && example !== "…" ? example : typeof example === "number" ? String(example) : `<${name}>`;
};

const credentials = ({ security = [] }: Operation): string[] => {
  if (security.length === 0) return [];
  if (security.some((way) => "apiKey" in way)) return ['-H "x-api-key: $KEY"'];
  return ["-b cookies.txt", '-H "origin: $BASE"'];
};

const bodyOf = ({ requestBody }: Operation, schemas: Readonly<Record<string, Schema>>): string[] => {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || content === undefined) return [];
  if (type !== JSON_TYPE) return ["--data-binary @picture.png", `-H 'content-type: ${type}'`];
  const example = content.example ?? exampleOf(content.schema, schemas);
  return [`-H 'content-type: ${JSON_TYPE}'`, `-d ${quoted(JSON.stringify(example))}`];
};

export const curlOf = (method: string, path: string, operation: Operation, schemas: Readonly<Record<string, Schema>>): string => {
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
