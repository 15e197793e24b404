import { isRecord, type GraphNode } from "../graph/types";

/** Literals of HTTP nodes in the forms in which rules for files of source code find credentials. */

/** Names of headers, parameters and members whose values are credentials. */
const CREDENTIAL =
  /(?:^|[-_.])(?:api[-_]?key|(?:access|auth)[-_]?token|subscription[-_]?key|secret[-_]?(?:access[-_]?)?key|client[-_]?secret)$/i;
/** Schemes that the rule of `Authorization` knows. */
const SCHEME = /^(?:basic|bearer|token|api-token)$/i;
const FORM = /^[^\s=&]+=\S*$/;
/** Of one text: what is longer is looked at as far. */
export const MOST_CHARS = 8_192;
const MOST_PARAMETERS = 100;
const MOST_NAME_CHARS = 100;

const asHeader = (name: string, value: string): string => `curl -H '${name}: ${value}' `;

/** What has a name, by that name: as a header, if it is a credential's, and otherwise as it would be assigned. */
const named = (name: string, value: string): string => (CREDENTIAL.test(name) ? asHeader("X-Api-Key", value) : `${name}=${value}`);

/** The parameters of a query, or of a form, one a line. */
const parametersOf = (query: string): string =>
  [...new URLSearchParams(query)]
    .slice(0, MOST_PARAMETERS)
    .map(([name, value]) => named(name, value))
    .join("\n");

/** Of another scheme, the last part of what follows is taken for a token. */
const authorizationText = (value: string): string => {
  const [scheme = "", given, ...more] = value.split(" ");
  if (given === undefined || more.length > 0 || SCHEME.test(scheme)) return value;
  return `Bearer ${given.slice(given.lastIndexOf(":") + 1)}`;
};

const headerText = (name: string, value: string): string => {
  if (name.toLowerCase() === "authorization") return asHeader(name, authorizationText(value));
  return `${asHeader(name, value)}\n${named(name, value)}`;
};

const urlText = (url: string): string => `curl '${url}' \n${parametersOf(/\?([^#]*)/.exec(url)?.[1] ?? "")}`;

/** Members of any depth that are credentials by their names. */
const credentialMembers = (value: unknown, name = ""): string[] => {
  if (typeof value === "string") return CREDENTIAL.test(name) ? [named(name, value)] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([member, one]) => credentialMembers(one, Array.isArray(value) ? name : member));
};

const bodyText = (body: unknown): string => {
  if (typeof body !== "string") return [...credentialMembers(body), JSON.stringify(body)].join("\n");
  const looked = body.slice(0, MOST_CHARS);
  return FORM.test(looked) ? `${parametersOf(looked)}\n${looked}` : looked;
};

/** The literals of a node that are sent: where each stands, and its text. */
export const literalsOf = ({ url, headers, body }: GraphNode["data"]): [path: string, text: string][] => [
  ...(typeof url === "string" ? [["url", urlText(url.slice(0, MOST_CHARS))] satisfies [string, string]] : []),
  ...(isRecord(headers) ? Object.entries(headers) : []).map(([name, value]): [string, string] => [
    `headers: ${name.slice(0, MOST_NAME_CHARS)}`,
    headerText(name.slice(0, MOST_NAME_CHARS), String(value).slice(0, MOST_CHARS)),
  ]),
  ...(body === undefined || body === null ? [] : [["body", bodyText(body)] satisfies [string, string]]),
];
