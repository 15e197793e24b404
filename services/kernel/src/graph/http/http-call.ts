import { textBytes } from "../bounds";
import { LIMITS } from "../../limits";
import { isRecord } from "../types";
import type { RunBudget } from "../budget";
import { fillUrl, isTemplated, urlTemplateProblem } from "./url-template";
import { parseJsonText } from "../values/json-text";
import { asText, fill, fillDeep, member, placed, placeholdersIn, withAddresses } from "../values/value";
import { isSecret, namingSecrets, secretPlace } from "./secrets";

/** The request of an http-request node, with its templates filled. */

export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;

/** The settings of an http-request node for one item. A connected body replaces the literal body. */
export interface HttpCall {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  isJson?: true;
  /** A JSON pointer into the response. */
  extract?: string;
  /** True if the node fails on a status outside 2xx. */
  failOnStatus?: true;
  /** Names of secrets whose values replace `{{secrets.NAME}}` when the request is sent. */
  secrets?: string[];
}

type Literals = Readonly<Record<string, unknown>>;

const QUOTE = '"';

/** Fills a JSON template: values are escaped inside strings and inserted as JSON elsewhere. */
const fillJson = (template: string, resolve: (name: string) => unknown, budget?: RunBudget): string => {
  let [inText, at] = [false, 0];
  const readTo = (end: number): void => {
    for (; at < end; at += 1) {
      if (inText && template[at] === "\\") at += 1;
      else if (template[at] === QUOTE) inText = !inText;
    }
  };
  return fill(
    template,
    (name, position) => {
      readTo(position);
      const value = resolve(name);
      if (inText) return JSON.stringify(asText(value)).slice(1, -1);
      return typeof value === "string" ? value : JSON.stringify(withAddresses(value) ?? null);
    },
    budget,
    true,
  );
};

/** Returns the connected body or the filled template, and whether it is JSON text. */
const contentOf = (
  connected: unknown,
  body: unknown,
  resolve: (name: string) => unknown,
  budget?: RunBudget,
): { content: unknown; isJson: boolean } => {
  const content = connected ?? (typeof body === "string" ? undefined : fillDeep(body, resolve, budget));
  if (content !== undefined && content !== null)
    return { content, isJson: typeof content === "string" && parseJsonText(content) !== undefined };
  if (typeof body !== "string") return { content, isJson: false };
  const filled = fillJson(body, resolve, budget);
  if (parseJsonText(filled)) return { content: filled, isJson: true };
  return { content: fill(body, resolve, budget), isJson: false };
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

export const httpCall = (
  { literals, secrets }: { literals: Literals; secrets?: readonly string[] },
  item: Literals,
  budget?: RunBudget,
): HttpCall => {
  const isPlace = (name: string): boolean => secrets !== undefined && isSecret(name);
  const resolve = (name: string): unknown => (isPlace(name) ? secretPlace(name) : placed(item, name));
  const { method, url, headers, body, extract } = literals;
  const filled = Object.entries((fillDeep(headers ?? {}, resolve, budget) ?? {}) as Record<string, unknown>).map(
    ([name, value]): [string, string] => [name, asText(value)],
  );
  const connected = withAddresses(member(item, "body"));
  const { content, isJson } = contentOf(connected, body, resolve, budget);
  const filledCall: HttpCall = {
    method: typeof method === "string" ? method.toUpperCase() : "GET",
    url: fillUrl(asText(url), resolve, budget, isPlace),
    headers: Object.fromEntries(filled),
  };
  if (isGiven(content)) filledCall.body = content;
  const call = secrets ? namingSecrets(filledCall, [url, headers, isGiven(connected) ? undefined : body]) : filledCall;
  if (isJson) call.isJson = true;
  if (literals.failOnStatus === true) call.failOnStatus = true;
  if (typeof extract === "string" && extract !== "") call.extract = extract;
  return budget ? budget.value(call) : call;
};

// Messages never quote a URL or a header, because both can contain credentials and readers other than the author see the messages.
const urlProblem = (url: string): string | undefined => {
  if (!URL.canParse(url)) return "url: is not a URL";
  const { protocol } = new URL(url);
  return /^https?:$/.test(protocol) ? undefined : "url: must begin with http:// or https://";
};

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/** Rejected, because other tools use `*` for every element. */
const WILDCARD = "*";
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

const headerProblems = (headers: unknown): string[] => {
  if (headers === undefined || headers === null) return [];
  if (!isRecord(headers)) return ["headers: must be an object of names and values"];
  return Object.entries(headers).flatMap(([name, value]) => [
    ...(HEADER_NAME.test(name) ? [] : ["headers: a name has invalid characters"]),
    ...(typeof value === "object" ? ["headers: every value must be text"] : []),
  ]);
};

/** Placeholder values for a syntax check. A port must be a number; a domain can't be one. */
const SOMETHING = ["1", "x"];

/** The problem of a URL with unknown placeholders if no values can make it valid; otherwise undefined. */
const openUrlProblem = (url: string): string | undefined => {
  const problems = SOMETHING.map((one) => urlProblem(fill(url, () => one)));
  return problems.includes(undefined) ? undefined : problems[0];
};

export const hasUrl = ({ url }: Literals): boolean => typeof url === "string" && url.trim() !== "";

/**
 * Problems of an http-request node's settings, except a missing URL.
 * @param calls the node's calls, or undefined if they aren't known yet
 */
export const httpProblems = (literals: Literals, calls: readonly HttpCall[] | undefined): string[] => {
  const { method, url, extract, body } = literals;
  const problems = headerProblems(literals.headers);
  const names: readonly string[] = HTTP_METHODS;
  if (method !== undefined && method !== null && !(typeof method === "string" && names.includes(method.toUpperCase())))
    problems.push(`method: must be one of ${names.join(", ")}`);
  if (extract !== undefined && extract !== null && !(typeof extract === "string" && POINTER.test(extract)))
    problems.push("extract: must be a JSON pointer, for example /data/0/title");
  else if (typeof extract === "string" && extract.split("/").includes(WILDCARD))
    problems.push("extract: * has no meaning in a JSON pointer: name one element, for example /data/0/title, or leave extract out");
  const { failOnStatus } = literals;
  if (failOnStatus !== undefined && failOnStatus !== null && typeof failOnStatus !== "boolean")
    problems.push("failOnStatus: must be true or false");
  if (body !== undefined && placeholdersIn(body).length === 0 && textBytes(JSON.stringify(body)) > LIMITS.textValueBytes)
    problems.push(`body: is longer than ${LIMITS.textValueBytes} bytes`);
  if (typeof url !== "string" || !hasUrl(literals)) return problems;
  const misplaced = urlTemplateProblem(url);
  if (misplaced !== undefined) return [...problems, misplaced];
  const urlProblems = calls ? calls.map((call) => urlProblem(call.url)) : isTemplated(url) ? [] : [openUrlProblem(url)];
  return [...problems, ...new Set(urlProblems.filter((problem) => problem !== undefined))];
};
