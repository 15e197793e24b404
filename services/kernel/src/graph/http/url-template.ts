import { wellFormed } from "../../text/well-formed";
import { LIMITS } from "../../limits";
import { BindError, type RunBudget } from "../budget";
import { asText, fill, placeholders } from "../values/value";

/**
 * Fills `{{name}}` in a URL. A value stays within its position: a host label, a path segment or a query value. A placeholder at the start
 * of a URL is inserted unchanged.
 */

type Resolve = (name: string) => unknown;
type IsVerbatim = (name: string) => boolean;

const LEADING = /^(?:\{\{[^{}]*\}\})+/;
/** Scheme, authority, path and rest. Placeholders don't contain delimiters. */
const PARTS = /^((?:[^/\\?#:]*:)?[/\\]{2})?([^/\\?#]*)([/\\][^?#]*)?([?#].*)?$/s;
/** A placeholder that would extend the host name, as in `example.com{{path}}`. */
const CONTINUED_HOST = /[\p{L}\p{N}]\{\{([^{}]*)\}\}(?::\d*)?$/u;
const HOST_PART = /^[\p{L}\p{M}\p{N}._-]*$/u;
/** `.`, `..` and forms that some servers treat as equal. */
const DOTS = /^\.{1,2}(?:;.*)?$/s;
/** Maximum levels of nested percent-encoding that are decoded. */
const DECODINGS = 3;

const partsOf = (url: string): { scheme: string; authority: string; path: string; rest: string } => {
  const [, scheme = "", authority = "", path = "", rest = ""] = PARTS.exec(url)!;
  return { scheme, authority, path, rest };
};

/** Percent-encodes a value. Lone surrogates, which UTF-8 can't encode, become the replacement character. */
const encoded = (value: unknown): string => encodeURIComponent(wellFormed(asText(value)));

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%2e/gi, ".").replace(/%2f/gi, "/").replace(/%5c/gi, "\\");
  }
};

/** True if a segment leaves its directory, either unchanged or after decoding. */
const climbs = (segment: string): boolean => {
  let text = segment;
  for (let times = 0; times <= DECODINGS; times += 1) {
    const pieces = text.replace(/[\t\n\r]/g, "").split(/[/\\]/);
    if (pieces.some((piece) => DOTS.test(piece))) return true;
    text = decoded(text);
  }
  return false;
};

const namesIn = (template: string): string =>
  placeholders(template)
    .map((name) => `{{${name}}}`)
    .join(" and ");

const fillAuthority = (authority: string, resolve: Resolve, budget?: RunBudget): string =>
  fill(
    authority,
    (name) => {
      const text = asText(resolve(name));
      if (HOST_PART.test(text)) return text;
      throw new BindError(`url: {{${name}}} is part of the host, so its value can only have letters, digits, dots and hyphens`);
    },
    budget,
  );

const fillSegment = (segment: string, encode: Resolve, budget?: RunBudget): string => {
  const filled = fill(segment, encode, budget);
  if (filled !== segment && climbs(filled)) throw new BindError(`url: ${namesIn(segment)} must not be or become . or ..`);
  return filled;
};

/** @throws BindError if the result exceeds the length limit of a text */
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

/** True for a URL that starts with a placeholder, so that its host is unknown. */
export const isTemplated = (url: string): boolean => LEADING.test(url);

/**
 * Fills the placeholders of a URL.
 * @param isVerbatim returns true for names whose values are inserted without encoding
 * @throws BindError if a value would leave its position, or if the URL becomes too long
 */
export const fillUrl = (template: string, resolve: Resolve, budget?: RunBudget, isVerbatim: IsVerbatim = () => false): string =>
  joined(filledParts(template, resolve, budget, isVerbatim));

/** Names of placeholders before the path. Their values decide which host is called. */
export const namesBeforePath = (template: string): string[] => {
  const [head = ""] = LEADING.exec(template) ?? [];
  const { scheme, authority } = partsOf(template.slice(head.length));
  return placeholders(head + scheme + authority);
};

/** The problem of a placeholder's position, or undefined if all positions are valid. */
export const urlTemplateProblem = (template: string): string | undefined => {
  if (isTemplated(template)) return undefined;
  const name = CONTINUED_HOST.exec(partsOf(template).authority)?.[1];
  return name === undefined ? undefined : `url: {{${name.trim()}}} would extend the host: put a / before it`;
};
