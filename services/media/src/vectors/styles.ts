import { isPlainValue, PRESENTATION } from "./allowed";

/** Replaces style sheets by attributes. Only selectors of one tag, class or id are read; drawing programs write no others. */

/** Values by attribute name. */
export type Styles = Map<string, string>;

const IMPORTANT = "!important";
const SELECTOR = /^[.#]?[\w-]+$/;

/** Reads declarations such as `fill: red; stroke: blue`. */
export const declarationsOf = (text: string): Styles => {
  const styles: Styles = new Map();
  for (const declaration of text.split(";")) {
    const colon = declaration.indexOf(":");
    const name = declaration.slice(0, Math.max(0, colon)).trim();
    const text = declaration.slice(colon + 1).trim();
    const value = text.endsWith(IMPORTANT) ? text.slice(0, -IMPORTANT.length).trim() : text;
    if (PRESENTATION.has(name) && isPlainValue(name, value)) styles.set(name, value);
  }
  return styles;
};

const withoutComments = (text: string): string =>
  text
    .split("/*")
    .map((part, index) => (index === 0 ? part : (part.split("*/")[1] ?? "")))
    .join(" ");

/** Adds the rules of a style sheet to those of earlier ones, by selector. */
export const addRules = (rules: Map<string, Styles>, sheet: string): void => {
  for (const rule of withoutComments(sheet).split("}")) {
    const [selectors = "", declarations] = rule.split("{");
    if (declarations === undefined) continue;
    const styles = declarationsOf(declarations);
    for (const selector of selectors.split(",").map((one) => one.trim())) {
      if (!SELECTOR.test(selector)) continue;
      rules.set(selector, new Map([...(rules.get(selector) ?? []), ...styles]));
    }
  }
};

/** Styles of an element, from the least specific selector to the most specific. */
export const stylesOf = (
  rules: ReadonlyMap<string, Styles>,
  { tag, classes, id, style }: { tag: string; classes: string; id: string; style: string },
): Styles => {
  const selectors = [tag, ...classes.split(/\s+/).map((name) => `.${name}`), `#${id}`];
  return new Map([...selectors.flatMap((selector) => [...(rules.get(selector) ?? [])]), ...declarationsOf(style)]);
};
