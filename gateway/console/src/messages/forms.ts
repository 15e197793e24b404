/** The language of the messages; a catalog in another language changes it with its texts. */
const LANGUAGE = "en";

const NUMBER = new Intl.NumberFormat(LANGUAGE);
const PLURAL = new Intl.PluralRules(LANGUAGE);

/** "1,234" */
export const number = (amount: number): string => NUMBER.format(amount);

/** A noun in the form that a count needs: "run", "runs" */
export const noun = (count: number, one: string, other: string): string => (PLURAL.select(count) === "one" ? one : other);

/** A count with its noun: "1 run", "1,234 runs" */
export const plural = (count: number, one: string, other: string): string => `${number(count)} ${noun(count, one, other)}`;
