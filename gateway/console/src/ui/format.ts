import { FORMAT } from "../messages/ui";
const CREDITS = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat("en");
const USD = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 4 });
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const DATE = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const STEPS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", 30],
  ["month", 12],
  ["year", Number.POSITIVE_INFINITY],
];
const MS = 1_000;
const SECONDS = 60;
const TENTHS = 10;
const KIB = 1024;

/** Credits from this number on are shown without decimals. */
export const EXACT_BELOW = 10;

/** Credits for comparison: "2.6", and without decimals from ten on: "92". @param round rounding function */
export const roundCredits = (amount: number, round: (amount: number) => number = Math.round): string =>
  CREDITS.format(amount < EXACT_BELOW ? amount : round(amount));

/** Text such as "2.6 credits". */
export const credits = (amount: number): string => `${CREDITS.format(amount)} ${amount === 1 ? "credit" : "credits"}`;
/** A balance, rounded down: "1,927 credits" */
export const balanceWords = (amount: number): string => `${roundCredits(amount, Math.floor)} ${amount === 1 ? "credit" : "credits"}`;
export const creditNumber = (amount: number): string => CREDITS.format(amount);
/** Text such as "2K". */
export const shortNumber = (amount: number): string => SHORT.format(amount);
export const usd = (amount: number): string => USD.format(amount);
export const whole = (amount: number): string => WHOLE.format(amount);

/** Text such as "3 minutes ago". */
export const ago = (iso: string, now = Date.now()): string => {
  let amount = (Date.parse(iso) - now) / MS;
  for (const [unit, size] of STEPS) {
    const rounded = Math.round(amount);
    if (Math.abs(rounded) < size) return RELATIVE.format(rounded, unit);
    amount /= size;
  }
  return iso;
};
export const dateTime = (iso: string): string => DATE.format(new Date(iso));

/** Texts such as "850 ms", "4.2 s" and "3 min 5 s". */
export const duration = (ms: number): string => {
  if (ms < MS) return FORMAT.ms(Math.round(ms));
  const tenths = Math.round(ms / (MS / TENTHS)) / TENTHS;
  if (tenths < SECONDS) return `${tenths.toFixed(1)} s`;
  const seconds = Math.round(ms / MS);
  return FORMAT.minutes(Math.floor(seconds / SECONDS), seconds % SECONDS);
};

/** Texts such as "4 s" and "3 min 5 s", for a time that is still running. */
export const wholeSeconds = (ms: number): string => {
  const seconds = Math.round(ms / MS);
  return seconds < SECONDS ? FORMAT.seconds(seconds) : FORMAT.minutes(Math.floor(seconds / SECONDS), seconds % SECONDS);
};

/** Text such as "1.4 MB". */
export const bytes = (count: number): string => {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [amount, unit] = [count, 0];
  while (amount >= KIB && unit < units.length - 1) [amount, unit] = [amount / KIB, unit + 1];
  return `${Number.isInteger(amount) ? amount : amount.toFixed(1)} ${units[unit]}`;
};

/** The text with a capital at its start. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A name of the API, such as a plan, a role or a state, as a label: "pro" is "Pro", "in_progress" is "In progress". */
export const titled = (name: string): string => capitalized(name).replaceAll("_", " ");
