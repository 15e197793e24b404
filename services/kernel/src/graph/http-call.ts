import { textBytes } from "./bounds";
import { LIMITS } from "../limits";
import { isRecord } from "./types";
import type { RunBudget } from "./budget";
import { asText, fill, fillDeep, isMedia, member, placeholdersIn } from "./value";

/** What an http-request node can ask for. */
export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;

/** An http-request node's settings for one item. A connected body wins over the literal. */
export interface HttpCall {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  /** JSON pointer of what the node outputs. */
  extract?: string;
}

type Literals = Readonly<Record<string, unknown>>;

const isTemplated = (url: string): boolean => /^\{\{[^{}]*\}\}/.test(url);

/** A value in a request's body: files travel as their URLs. */
const plain = (value: unknown): unknown => {
  if (isMedia(value)) return value.url;
  return Array.isArray(value) ? value.map(plain) : value;
};

export const httpCall = ({ literals }: { literals: Literals }, item: Literals, budget?: RunBudget): HttpCall => {
  const resolve = (name: string): unknown => member(item, name);
  const { method, url, headers, body, extract } = literals;
  const filled = Object.entries((fillDeep(headers ?? {}, resolve, budget) ?? {}) as Record<string, unknown>).map(
    ([name, value]): [string, string] => [name, asText(value)],
  );
  const content = plain(member(item, "body")) ?? fillDeep(body, resolve, budget);
  // A URL that begins with a placeholder is taken as it is given.
  const encode = typeof url === "string" && isTemplated(url) ? resolve : (name: string) => encodeURIComponent(asText(resolve(name)));
  const call: HttpCall = {
    method: typeof method === "string" ? method.toUpperCase() : "GET",
    url: fill(asText(url), encode, budget),
    headers: Object.fromEntries(filled),
  };
  if (content !== undefined && content !== null) call.body = content;
  if (typeof extract === "string" && extract !== "") call.extract = extract;
  return budget ? budget.value(call) : call;
};

const urlProblem = (url: string): string | undefined => {
  if (!URL.canParse(url)) return `url: ${JSON.stringify(url.slice(0, 100))} is not a URL`;
  const { protocol } = new URL(url);
  return /^https?:$/.test(protocol) ? undefined : `url: must begin with http:// or https://, not ${protocol}`;
};

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

const headerProblems = (headers: unknown): string[] => {
  if (headers === undefined || headers === null) return [];
  if (!isRecord(headers)) return ["headers: must be an object of names and values"];
  return Object.entries(headers).flatMap(([name, value]) => [
    ...(HEADER_NAME.test(name) ? [] : [`headers: ${JSON.stringify(name.slice(0, 100))} is not a header's name`]),
    ...(typeof value === "object" ? [`headers: the value of ${name.slice(0, 100)} must be text`] : []),
  ]);
};

/** Stands for whatever is not known yet: a valid host, port and path. */
const SOMETHING = "1";

/**
 * Everything that is wrong with the settings of an http-request node.
 * @param calls what the node will call, as far as it is known.
 */
export const httpProblems = (literals: Literals, calls: readonly HttpCall[] | undefined): string[] => {
  const { method, url, extract, body } = literals;
  const problems = headerProblems(literals.headers);
  const names: readonly string[] = HTTP_METHODS;
  if (method !== undefined && method !== null && !(typeof method === "string" && names.includes(method.toUpperCase())))
    problems.push(`method: must be one of ${names.join(", ")}`);
  if (extract !== undefined && extract !== null && !(typeof extract === "string" && POINTER.test(extract)))
    problems.push("extract: must be a JSON pointer, for example /data/0/title");
  if (body !== undefined && placeholdersIn(body).length === 0 && textBytes(JSON.stringify(body)) > LIMITS.textValueBytes)
    problems.push(`body: is longer than ${LIMITS.textValueBytes} bytes`);
  if (typeof url !== "string" || url.trim() === "") return [...problems, "needs a url"];
  const urls = calls ? calls.map((call) => call.url) : isTemplated(url) ? [] : [fill(url, () => SOMETHING)];
  return [...problems, ...new Set(urls.map(urlProblem).filter((problem) => problem !== undefined))];
};
