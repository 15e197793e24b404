/** Formats that values are checked for; others say nothing. Each check takes time in proportion to the text. */

/** Longer texts are of none of these formats. */
const MOST_CHARS = 2_048;
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

const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date", isDate],
  ["time", (text: string) => TIME.test(text)],
  ["date-time", isDateTime],
  ["email", isEmail],
  ["hostname", isHostname],
  ["uri", (text: string) => SCHEME.test(text) && URL.canParse(text)],
  ["uuid", (text: string) => UUID.test(text)],
  ["ipv4", (text: string) => IPV4.test(text)],
]);

/** Whether a text is of a format. */
export const isOfFormat = (text: string, format: string): boolean => {
  const check = FORMATS.get(format);
  return check === undefined || (text.length <= MOST_CHARS && check(text));
};
