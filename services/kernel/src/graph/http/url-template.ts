import { wellFormed } from "../../well-formed";
import { LIMITS } from "../../limits";
import { BindError, type RunBudget } from "../budget";
import { asText, fill, placeholders } from "../values/value";

/**
 * How `{{name}}` is filled in a URL: a value stays in the place that the author gave it, be it a label of the host, a segment
 * of the path or a value of the query. Placeholders that a URL begins with are taken as they are given.
 */

type Resolve = (name: string) => unknown;
type IsVerbatim = (name: string) => boolean;

const LEADING = /^(?:\{\{[^{}]*\}\})+/;
/** The scheme, the authority, the path, and the rest. Placeholders have none of the characters that part them. */
const PARTS = /^((?:[^/\\?#:]*:)?[/\\]{2})?([^/\\?#]*)([/\\][^?#]*)?([?#].*)?$/s;
/** A placeholder that makes a host longer: `example.com{{path}}`. */
const CONTINUED_HOST = /[\p{L}\p{N}]\{\{([^{}]*)\}\}(?::\d*)?$/u;
const HOST_PART = /^[\p{L}\p{M}\p{N}._-]*$/u;
/** `.`, `..`, and what some servers take for them. */
const DOTS = /^\.{1,2}(?:;.*)?$/s;
/** Escapes of escapes that are looked through. */
const DECODINGS = 3;

const partsOf = (url: string): { scheme: string; authority: string; path: string; rest: string } => {
  const [, scheme = "", authority = "", path = "", rest = ""] = PARTS.exec(url)!;
  return { scheme, authority, path, rest };
};

/** A value as one part of a URL. Halves of characters, which UTF-8 can't say, become the replacement character. */
const encoded = (value: unknown): string => encodeURIComponent(wellFormed(asText(value)));

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%2e/gi, ".").replace(/%2f/gi, "/").replace(/%5c/gi, "\\");
  }
};

/** Whether a segment of a path leads out of its place, now or after it was decoded. */
const climbs = (segment: string): boolean => {
  let text = segment;
  for (let times = 0; times <= DECODINGS; times += 1) {
    const pieces = text.replace(/[\t\n\r]/g, "").split(/[/\\]/);
    if (pieces.some((piece) => DOTS.test(piece))) return true;
    text = decoded(text);
  }
  return false;
};

const named = (template: string): string =>
  placeholders(template)
    .map((name) => `{{${name}}}`)
    .join(" and ");

const fillAuthority = (authority: string, resolve: Resolve, budget?: RunBudget): string =>
  fill(
    authority,
    (name) => {
      const text = asText(resolve(name));
      if (HOST_PART.test(text)) return text;
      throw new BindError(`url: {{${name}}} stands in the host, where it may have letters, digits, dots and hyphens only`);
    },
    budget,
  );

const fillSegment = (segment: string, encode: Resolve, budget?: RunBudget): string => {
  const filled = fill(segment, encode, budget);
  if (filled !== segment && climbs(filled)) throw new BindError(`url: ${named(segment)} may not be . or .., or lead there`);
  return filled;
};

/** Texts put together. @throws BindError as soon as they are longer than a text may be */
const joined = (parts: Iterable<string>): string => {
  let text = "";
  for (const part of parts) {
    text += part;
    if (text.length > LIMITS.textValueBytes) throw new BindError(`url: would be longer than ${LIMITS.textValueBytes} characters`);
  }
  return text;
};

function* filledParts(template: string, resolve: Resolve, budget: RunBudget | undefined, isVerbatim: IsVerbatim): Iterable<string> {
  const [head = ""] = LEADING.exec(template) ?? [];
  yield fill(head, resolve, budget);
  const encode: Resolve = (name) => (isVerbatim(name) ? resolve(name) : encoded(resolve(name)));
  const { scheme, authority, path, rest } = partsOf(template.slice(head.length));
  yield scheme;
  yield fillAuthority(authority, resolve, budget);
  for (const piece of path.split(/([/\\])/)) yield fillSegment(piece, encode, budget);
  yield fill(rest, encode, budget);
}

/** True for a URL that begins with a placeholder: nothing is known of where it leads. */
export const isTemplated = (url: string): boolean => LEADING.test(url);

/**
 * Fills the placeholders of a URL.
 * @param isVerbatim whether what a name stands for is put in as it is
 * @throws BindError when a value would leave its place, or the URL would be too long
 */
export const fillUrl = (template: string, resolve: Resolve, budget?: RunBudget, isVerbatim: IsVerbatim = () => false): string =>
  joined(filledParts(template, resolve, budget, isVerbatim));

/** Names in a URL's beginning, up to its path: what decides where it leads. */
export const namesBeforePath = (template: string): string[] => {
  const [head = ""] = LEADING.exec(template) ?? [];
  const { scheme, authority } = partsOf(template.slice(head.length));
  return placeholders(head + scheme + authority);
};

/** What is wrong with where placeholders stand, or undefined. */
export const urlTemplateProblem = (template: string): string | undefined => {
  if (isTemplated(template)) return undefined;
  const name = CONTINUED_HOST.exec(partsOf(template).authority)?.[1];
  return name === undefined ? undefined : `url: {{${name.trim()}}} would continue the host: put a / before it`;
};
