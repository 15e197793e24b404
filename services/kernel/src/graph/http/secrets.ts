import { SECRET_NAME, SECRET_NAME_FORM } from "../../secrets/form";
import { BindError } from "../budget";
import { isRecord, shownName } from "../types";
import { placeholdersIn, placeholderUses } from "../values/value";
import { namesBeforePath } from "./url-template";

/**
 * `{{secrets.NAME}}` in the url, headers and body of an http-request node. It stays as it is in plans and runs; the value comes in its
 * place in the request that is sent, and nowhere else.
 */

const PREFIX = "secrets.";
const PLACE = /\{\{secrets\.([A-Z][A-Z0-9_]{0,63})\}\}/g;

/** Whether the name of a placeholder means a secret. */
export const isSecret = (placeholder: string): boolean => placeholder.startsWith(PREFIX);

/** How a secret stands in what a node will send. */
export const secretPlace = (placeholder: string): string => `{{${placeholder}}}`;

/** Names of the secrets in the texts of a JSON value, each once. */
export const secretNames = (texts: unknown): string[] =>
  placeholdersIn(texts)
    .filter(isSecret)
    .map((placeholder) => placeholder.slice(PREFIX.length));

/** Names of the secrets in a node's settings. */
export const secretsOfNode = ({ url, headers, body }: Readonly<Record<string, unknown>>): string[] => secretNames([url, headers, body]);

/** What is wrong with the secrets in a node's settings. @param names of them */
export const secretProblems = (names: readonly string[], url: unknown): string[] => {
  const unnamed = names.filter((name) => !SECRET_NAME.test(name));
  const misplaced = typeof url === "string" ? namesBeforePath(url).filter(isSecret) : [];
  return [
    ...unnamed.map((name) => `${secretPlace(PREFIX + shownName(name))} is no secret: its name ${SECRET_NAME_FORM}`),
    ...misplaced.map((name) => `url: ${secretPlace(shownName(name))} may stand in the path and the query alone`),
  ];
};

/** What of a request has places for secrets. */
interface Request {
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  /** The body is a text that is JSON. */
  isJson?: true;
  secrets?: string[];
}

/** Replaces places in every text of a JSON value; names of members stay. */
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
 * @param templates what the node's author wrote of it
 * @throws BindError where a value that flowed in makes a place of its own: only the author of a graph names secrets
 */
export const namingSecrets = <T extends Request>(call: T, templates: readonly unknown[]): T => {
  const secrets = secretNames(templates);
  if (secrets.length === 0) return call;
  if (placesIn([call.url, call.headers, call.body]) !== placesOfTemplates(templates))
    throw new BindError("a value that flows in has the text of a {{secrets.…}} placeholder, which only the node itself may have");
  return { ...call, secrets };
};

/** A call as it is sent: values in their places, each in the form of the place. @param values of all secrets that the call names */
export const withSecretValues = <T extends Request>(call: T, values: ReadonlyMap<string, string>): T => {
  if (!call.secrets) return call;
  const valueOf = (name: string): string => values.get(name) ?? "";
  const inJson = (name: string): string => JSON.stringify(valueOf(name)).slice(1, -1);
  return {
    ...call,
    url: call.url.replace(PLACE, (_place, name: string) => encodeURIComponent(valueOf(name))),
    headers: replaceDeep(call.headers, valueOf) as Record<string, string>,
    // JSON in a text has places inside its texts alone: anywhere else it would be none.
    ...(call.body === undefined ? {} : { body: replaceDeep(call.body, call.isJson ? inJson : valueOf) }),
  };
};
