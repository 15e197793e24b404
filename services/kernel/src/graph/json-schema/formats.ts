/** Checks of the supported formats; other formats are ignored. Each check takes time linear in the text. */

/** True if a value has the format. A value of a type that the format doesn't apply to also passes. */
export type FormatChecks = ReadonlyMap<string, (value: unknown) => boolean>;

/** In answers, longer texts fail every format. */
const MOST_ANSWER_CHARS = 2_048;
const MOST_EMAIL_CHARS = 320;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

const isDate = (text: string): boolean => {
  const [, year, month, day] = DATE.exec(text)?.map(Number) ?? [];
  if (year === undefined || month! < 1 || month! > 12 || day! < 1) return false;
  return day! <= new Date(Date.UTC(2000 + (year % 400), month!, 0)).getUTCDate();
};
const isDateTime = (text: string): boolean => isDate(text.slice(0, 10)) && /^[t ]$/i.test(text.charAt(10)) && TIME.test(text.slice(11));
const isHostname = (text: string): boolean => text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
const isEmail = (text: string): boolean => {
  const at = text.lastIndexOf("@");
  return text.length <= MOST_EMAIL_CHARS && at > 0 && text.indexOf("@") === at && !/\s/.test(text) && isHostname(text.slice(at + 1));
};

type TextFormat = [name: string, is: (text: string) => boolean];
const byPattern = (name: string, pattern: RegExp): TextFormat => [name, (text) => pattern.test(text)];
const ofTexts = (formats: readonly TextFormat[], mostChars: number): FormatChecks =>
  new Map(formats.map(([name, is]) => [name, (value) => typeof value !== "string" || (value.length <= mostChars && is(value))]));

const ANSWERS: readonly TextFormat[] = [
  ["date", isDate],
  byPattern("time", TIME),
  ["date-time", isDateTime],
  ["email", isEmail],
  ["hostname", isHostname],
  ["uri", (text) => SCHEME.test(text) && URL.canParse(text)],
  byPattern("uuid", UUID),
  byPattern("ipv4", IPV4),
];

/** Formats in users' schemas. */
export const ANSWER_FORMATS = ofTexts(ANSWERS, MOST_ANSWER_CHARS);

/** Characters of a URI that need no encoding (RFC 3986). */
const URI_TEXT = /^(?:[!#$&-;=?-Z_a-z~[\]]|%[0-9a-f]{2})*$/i;
const EMAIL =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
const DURATION = /^P(?!$)((\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|(\d+W)?)$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const INT32_END = 2 ** 31;

const isRegularExpression = (text: string): boolean => {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
};

const INPUTS: readonly TextFormat[] = [
  ...ANSWERS,
  // File URLs are checked when they are resolved.
  ["media", (text) => text !== ""],
  ["uri", (text) => SCHEME.test(text) && URI_TEXT.test(text) && URL.canParse(text)],
  ["url", (text) => /^(https?|ftp):/i.test(text) && URL.canParse(text)],
  ["uri-reference", (text) => URI_TEXT.test(text) && URL.canParse(text, "http://base")],
  byPattern("email", EMAIL),
  byPattern("uuid", /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i),
  ["ipv6", (text) => /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`)],
  byPattern("duration", DURATION),
  byPattern("json-pointer", /^(?:\/(?:[^~/]|~0|~1)*)*$/),
  byPattern("relative-json-pointer", /^(?:0|[1-9][0-9]*)(?:#|(?:\/(?:[^~/]|~0|~1)*)*)$/),
  ["regex", isRegularExpression],
  byPattern("byte", BASE64),
];

/** Formats of model inputs. Registry authors can use everything that JSON Schema and OpenAPI define. */
export const INPUT_FORMATS: FormatChecks = new Map([
  ...ofTexts(INPUTS, Infinity),
  ["int32", (value) => typeof value !== "number" || (Number.isInteger(value) && value >= -INT32_END && value < INT32_END)],
  ["int64", (value) => typeof value !== "number" || Number.isInteger(value)],
]);
