/** Spells out numbers, signs and abbreviations as they are read in American English. */

const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES: readonly [number, string][] = [
  [1e9, "billion"],
  [1e6, "million"],
  [1e3, "thousand"],
  [100, "hundred"],
];
/** Longer numbers are read digit by digit. */
const MAX_DIGITS = 12;

const cardinal = (value: number): string => {
  for (const [scale, name] of SCALES) {
    if (value < scale) continue;
    const rest = value % scale;
    return `${cardinal(Math.floor(value / scale))} ${name}${rest > 0 ? ` ${cardinal(rest)}` : ""}`;
  }
  if (value < SMALL.length) return SMALL[value]!;
  const ones = value % 10;
  return TENS[Math.floor(value / 10)]! + (ones > 0 ? ` ${SMALL[ones]}` : "");
};

const IRREGULAR: Readonly<Record<string, string>> = {
  one: "first",
  two: "second",
  three: "third",
  five: "fifth",
  eight: "eighth",
  nine: "ninth",
  twelve: "twelfth",
};

const ordinal = (value: number): string =>
  cardinal(value).replace(
    /(?<![a-z])[a-z]+$/,
    (last) => IRREGULAR[last] ?? (last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`),
  );

const digits = (text: string): string => [...text].map((digit) => SMALL[Number(digit)]).join(" ");

const whole = (text: string): string => (text.length > MAX_DIGITS ? digits(text) : cardinal(Number(text)));

/** Spells out a year, for example nineteen eighty-four, nineteen oh five, two thousand, two thousand seven. */
const year = (text: string): string => {
  const [century, rest] = [Number(text.slice(0, 2)), Number(text.slice(2))];
  if (rest === 0) return century % 10 === 0 ? cardinal(Number(text)) : `${cardinal(century)} hundred`;
  if (rest < 10) return century === 20 ? cardinal(Number(text)) : `${cardinal(century)} oh ${SMALL[rest]}`;
  return `${cardinal(century)} ${cardinal(rest)}`;
};

const CURRENCIES: Readonly<Record<string, readonly [string, string]>> = {
  $: ["dollar", "cent"],
  "€": ["euro", "cent"],
  "£": ["pound", "penny"],
};

const money = (sign: string, units: string, cents: string | undefined): string => {
  const [unit, small] = CURRENCIES[sign]!;
  const plural = (count: number, name: string): string => (count === 1 ? name : name === "penny" ? "pence" : `${name}s`);
  const unitWords = `${whole(units)} ${plural(Number(units), unit)}`;
  return cents === undefined || Number(cents) === 0
    ? unitWords
    : `${unitWords} and ${cardinal(Number(cents))} ${plural(Number(cents), small)}`;
};

const time = (hours: string, minutes: string): string => {
  const rest = Number(minutes);
  return `${cardinal(Number(hours))} ${rest === 0 ? "o'clock" : rest < 10 ? `oh ${SMALL[rest]}` : cardinal(rest)}`;
};

const ABBREVIATIONS: Readonly<Record<string, string>> = {
  Mr: "Mister",
  Mrs: "Missus",
  Ms: "Miz",
  Dr: "Doctor",
  Prof: "Professor",
  St: "Saint",
  vs: "versus",
  etc: "et cetera",
  "e.g": "for example",
  "i.e": "that is",
};

/** Replaces everything except words and punctuation with words. */
export const inWords = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/[’‘]/g, "'")
    .replace(/\b(Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e)\./g, (_, short: string) => ABBREVIATIONS[short]!)
    .replace(/(\d),(?=\d{3}\b)/g, "$1")
    .replace(/([$€£])(\d+)(?:\.(\d\d))?\b/g, (_, sign: string, units: string, cents?: string) => money(sign, units, cents))
    .replace(/%/g, " percent")
    .replace(/&/g, " and ")
    .replace(/\+/g, " plus ")
    .replace(/@/g, " at ")
    .replace(/\b(\d{1,2}):([0-5]\d)\b/g, (_, hours: string, minutes: string) => time(hours, minutes))
    .replace(/\b(\d+)(?:st|nd|rd|th)\b/g, (_, value: string) => (value.length > MAX_DIGITS ? digits(value) : ordinal(Number(value))))
    .replace(/\b(\d+)\.(\d+)\b/g, (_, units: string, fraction: string) => `${whole(units)} point ${digits(fraction)}`)
    .replace(/(^|\s)-(?=\d)/g, "$1minus ")
    .replace(/\b(?:1[1-9]|20)\d\d\b/g, year)
    .replace(/\d+/g, (value) => ` ${whole(value)} `);
