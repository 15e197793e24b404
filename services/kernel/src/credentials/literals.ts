import { isRecord, type GraphNode } from "../graph/types";

/** Converts literals of HTTP nodes into the source code forms that the gitleaks rules match. */

const CREDENTIAL =
  /(?:^|[-_.])(?:api[-_]?key|(?:access|auth)[-_]?token|subscription[-_]?key|secret[-_]?(?:access[-_]?)?key|client[-_]?secret)$/i;
/** Schemes that the gitleaks rule for `Authorization` matches. */
const SCHEME = /^(?:basic|bearer|token|api-token)$/i;
const FORM = /^[^\s=&]+=\S*$/;
/** Characters checked per text; the rest is ignored. */
export const MOST_CHARS = 8_192;
const MOST_PARAMETERS = 100;
const MOST_NAME_CHARS = 100;

const asHeader = (name: string, value: string): string => `curl -H '${name}: ${value}' `;

/** Formats a named value as its rule expects: as a header if the name is a credential's, otherwise as an assignment. */
const asAssignment = (name: string, value: string): string => (CREDENTIAL.test(name) ? asHeader("X-Api-Key", value) : `${name}=${value}`);

/** Query or form parameters, formatted with one per line. */
const parametersOf = (query: string): string =>
  [...new URLSearchParams(query)]
    .slice(0, MOST_PARAMETERS)
    .map(([name, value]) => asAssignment(name, value))
    .join("\n");

/** If the rule doesn't match the scheme, the last part is treated as the token. */
const authorizationText = (value: string): string => {
  const [scheme = "", credential, ...more] = value.split(" ");
  if (credential === undefined || more.length > 0 || SCHEME.test(scheme)) return value;
  return `Bearer ${credential.slice(credential.lastIndexOf(":") + 1)}`;
};

const headerText = (name: string, value: string): string => {
  if (name.toLowerCase() === "authorization") return asHeader(name, authorizationText(value));
  return `${asHeader(name, value)}\n${asAssignment(name, value)}`;
};

const urlText = (url: string): string => `curl '${url}' \n${parametersOf(/\?([^#]*)/.exec(url)?.[1] ?? "")}`;

/** Members at any depth with the name of a credential. */
const credentialMembers = (value: unknown, name = ""): string[] => {
  if (typeof value === "string") return CREDENTIAL.test(name) ? [asAssignment(name, value)] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([member, one]) => credentialMembers(one, Array.isArray(value) ? name : member));
};

const bodyText = (body: unknown): string => {
  if (typeof body !== "string") return [...credentialMembers(body), JSON.stringify(body)].join("\n");
  const looked = body.slice(0, MOST_CHARS);
  return FORM.test(looked) ? `${parametersOf(looked)}\n${looked}` : looked;
};

/** Literals that a node sends, with the paths of their settings. */
export const literalsOf = ({ url, headers, body }: GraphNode["data"]): [path: string, text: string][] => [
  ...(typeof url === "string" ? [["url", urlText(url.slice(0, MOST_CHARS))] satisfies [string, string]] : []),
  ...(isRecord(headers) ? Object.entries(headers) : []).map(([name, value]): [string, string] => [
    `headers: ${name.slice(0, MOST_NAME_CHARS)}`,
    headerText(name.slice(0, MOST_NAME_CHARS), String(value).slice(0, MOST_CHARS)),
  ]),
  ...(body === undefined || body === null ? [] : [["body", bodyText(body)] satisfies [string, string]]),
];
