import { slugify } from "transliteration";

/** Maximum length of a slug, including its number. */
export const MAX_CHARS = 80;
/** Characters reserved for `-2`, `-3`, …. */
const NUMBER_CHARS = 8;
const FALLBACK = "workflow";

/** The preferred slug for a name: Latin letters and digits, with words joined by hyphens. Unicode normalization doesn't affect it. */
export const slugOf = (name: string): string =>
  slugify(name.normalize(), { lowercase: true, separator: "-", allowedChars: "a-zA-Z0-9" })
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_CHARS - NUMBER_CHARS)
    .replace(/^-|-$/g, "") || FALLBACK;

/** Matches a slug and its numbered variants. The pattern is anchored, so that an index is used. */
export const variantsOf = (slug: string): RegExp => new RegExp(`^${slug}(?:-[0-9]+)?$`);

/** Returns the slug if it is free, otherwise its variant with the smallest free number from 2. */
export const firstFree = (slug: string, takenSlugs: ReadonlySet<string>): string => {
  if (!takenSlugs.has(slug)) return slug;
  let number = 2;
  while (takenSlugs.has(`${slug}-${number}`)) number += 1;
  return `${slug}-${number}`;
};
