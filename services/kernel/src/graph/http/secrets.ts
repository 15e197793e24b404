import { SECRET_NAME, SECRET_NAME_FORM } from "../../secrets/form";
import { BindError } from "../budget";
import { isRecord } from "../types";
import { shownName } from "../../text/shown-name";
import { placeholdersIn, placeholderUses } from "../values/value";
import { namesBeforePath } from "./url-template";

/**
 * Handles `{{secrets.NAME}}` in the URL, headers and body of an http-request node. Plans and runs store the placeholder. Only the sent
 * request contains the value.
 */

const PREFIX = "secrets.";
const PLACE = /\{\{secrets\.([A-Z][A-Z0-9_]{0,63})\}\}/g;

export const isSecret = (placeholder: string): boolean => placeholder.startsWith(PREFIX);

/** The placeholder text in a node's request. */
export const secretPlace = (placeholder: string): string => `{{${placeholder}}}`;

/** Names of secrets in the texts of a JSON value, without duplicates. */
export const secretNames = (texts: unknown): string[] =>
  placeholdersIn(texts)
    .filter(isSecret)
    .map((placeholder) => placeholder.slice(PREFIX.length));

export const secretsOfNode = ({ url, headers, body }: Readonly<Record<string, unknown>>): string[] => secretNames([url, headers, body]);

/** Problems with the secrets that a node's settings name. */
export const secretProblems = (names: readonly string[], url: unknown): string[] => {
  const unnamed = names.filter((name) => !SECRET_NAME.test(name));
  const misplaced = typeof url === "string" ? namesBeforePath(url).filter(isSecret) : [];
  return [
    ...unnamed.map((name) => `${secretPlace(PREFIX + shownName(name))} isn't a secret: its name ${SECRET_NAME_FORM}`),
    ...misplaced.map((name) => `url: ${secretPlace(shownName(name))} can only be in the path or the query`),
  ];
};

/** Parts of a request that can contain secrets. */
interface Request {
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  isJson?: true;
  secrets?: string[];
}

/** Replaces placeholders in every string of a JSON value, except in member names. */
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
 * Adds to a call the names of the secrets that it contains.
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
 * Replaces placeholders with values, escaped for their position, just before the call is sent.
 * @param values values of all secrets that the call names
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
