const CENSORED = "[redacted]";

/** Members whose values are secrets. `key` and `value` contain API keys and values in Redis. */
const NAME = "(?:[\\w.-]{0,60}(?:password|passphrase|secret|pepper|cookie|authorization|api[-_]?key|private[-_]?key|token)|key|value)";
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
/** A member in JSON that is itself inside a string. */
const QUOTED_STRING = String.raw`\\"(?:[^"\\]|\\\\(?:\\"|\\\\|[^\\])|\\[^"\\])*\\"`;

const RULES: readonly (readonly [RegExp, string])[] = [
  [new RegExp(String.raw`(?<!\\)("${NAME}"\s*:\s*)(?:${STRING}|\[\s*${STRING}(?:\s*,\s*${STRING})*\s*\])`, "gi"), `$1"${CENSORED}"`],
  [new RegExp(String.raw`(\\"${NAME}\\"\s*:\s*)${QUOTED_STRING}`, "gi"), `$1\\"${CENSORED}\\"`],
  [/\b(nl_[a-z0-9]{1,20}_)[0-9a-z]{20,}(?:_[0-9a-z]{6})?/gi, `$1${CENSORED}`],
  [/\b(nlh_)[\w-]{20,}/g, `$1${CENSORED}`],
  [/\b(whsec_)[a-z0-9+/=]{8,}/gi, `$1${CENSORED}`],
  [/\b((?:sk|r8)[-_])[a-z0-9_-]{16,}/gi, `$1${CENSORED}`],
  [/\b((?:bearer|basic) +)[a-z0-9._~+/=-]{12,}/gi, `$1${CENSORED}`],
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@"\\]+@/gi, `$1${CENSORED}@`],
  [/([?&](?:api[-_]?key|key|token|access[-_]token|secret|password|sig|signature)=)[^&\s"'\\<>]+/gi, `$1${CENSORED}`],
];

/** Redacts secrets in a JSON line at any depth, including inside texts. The line stays valid JSON. */
export const redactLine = (line: string): string =>
  RULES.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
