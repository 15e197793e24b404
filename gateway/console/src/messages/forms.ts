/** Language of the messages. A catalog in another language changes it together with the texts. */
const LANGUAGE = "en";

const NUMBER = new Intl.NumberFormat(LANGUAGE);
const PLURAL = new Intl.PluralRules(LANGUAGE);

/** Text such as "1,234". */
export const number = (amount: number): string => NUMBER.format(amount);

/** The form of a noun for a count: "run" or "runs". */
export const noun = (count: number, one: string, other: string): string => (PLURAL.select(count) === "one" ? one : other);

/** A count with its noun, such as "1 run" and "1,234 runs". */
export const plural = (count: number, one: string, other: string): string => `${number(count)} ${noun(count, one, other)}`;
