import { SECRET_NAME, SECRET_NAME_FORM } from "../../secrets/form";
import { BindError } from "../budget";
import { isRecord, shownName } from "../types";
import { placeholdersIn, placeholderUses } from "../values/value";
import { namesBeforePath } from "./url-template";

/**
 * `{{secrets.NAME}}` in the URL, headers and body of an http-request node. Plans and runs store the placeholder. Only the request that is
 * sent contains the value.
 */

const PREFIX = "secrets.";
const PLACE = /\{\{secrets\.([A-Z][A-Z0-9_]{0,63})\}\}/g;

export const isSecret = (placeholder: string): boolean => placeholder.startsWith(PREFIX);

/** The placeholder as the node's request contains it. */
export const secretPlace = (placeholder: string): string => `{{${placeholder}}}`;

/** Distinct names of secrets in the texts of a JSON value. */
export const secretNames = (texts: unknown): string[] =>
  placeholdersIn(texts)
    .filter(isSecret)
    .map((placeholder) => placeholder.slice(PREFIX.length));

export const secretsOfNode = ({ url, headers, body }: Readonly<Record<string, unknown>>): string[] => secretNames([url, headers, body]);

/** Problems of the secrets that a node's settings name. */
export const secretProblems = (names: readonly string[], url: unknown): string[] => {
  const unnamed = names.filter((name) => !SECRET_NAME.test(name));
  const misplaced = typeof url === "string" ? namesBeforePath(url).filter(isSecret) : [];
  return [
    ...unnamed.map((name) => `${secretPlace(PREFIX + shownName(name))} isn't a secret: its name ${SECRET_NAME_FORM}`),
    ...misplaced.map((name) => `url: ${secretPlace(shownName(name))} can only be in the path or the query`),
  ];
};

/** The request parts that can contain secrets. */
interface Request {
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  /** The body is JSON text. */
  isJson?: true;
  secrets?: string[];
}

/** Replaces placeholders in every string of a JSON value, but not in member names. */
const replaceDeep = (value: unknown, valueOf: (name: string) => string): unknown => {
  if (typeof value === "string") return value.replace(PLACE, (_place, name: string) => valueOf(name));
  if (Array.isArray(value)) return value.map((item) => replaceDeep(item, valueOf));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceDeep(item, valueOf)]));
};

const placesIn = (value: unknown): number => {
  let count = 0;
  replaceDeep(value, (name) => {
    count += 1;
    return name;
  });
  return count;
};

const placesOfTemplates = (templates: unknown): number =>
  [...placeholderUses(templates)].reduce((sum, [name, uses]) => (isSecret(name) ? sum + uses : sum), 0);

/**
 * A call with the names of the secrets in it.
 * @param templates the author's literals of the call
 * @throws BindError if a value from an edge contains `{{secrets.…}}`: only the graph's author can name secrets
 */
export const namingSecrets = <T extends Request>(call: T, templates: readonly unknown[]): T => {
  const secrets = secretNames(templates);
  if (secrets.length === 0) return call;
  if (placesIn([call.url, call.headers, call.body]) !== placesOfTemplates(templates))
    throw new BindError("an input contains a {{secrets.…}} placeholder, which only the node's own settings can contain");
  return { ...call, secrets };
};

/**
 * The call to send: values replace their placeholders, escaped for their position.
 * @param values of all secrets that the call names
 */
export const withSecretValues = <T extends Request>(call: T, values: ReadonlyMap<string, string>): T => {
  if (!call.secrets) return call;
  const valueOf = (name: string): string => values.get(name) ?? "";
  const inJson = (name: string): string => JSON.stringify(valueOf(name)).slice(1, -1);
  return {
    ...call,
    url: call.url.replace(PLACE, (_place, name: string) => encodeURIComponent(valueOf(name))),
    headers: replaceDeep(call.headers, valueOf) as Record<string, string>,
    // In JSON text, placeholders are only valid inside strings.
    ...(call.body === undefined ? {} : { body: replaceDeep(call.body, call.isJson ? inJson : valueOf) }),
  };
};
