import type { Issue } from "@nodeloom/kernel";
import type { JsonBody } from "./body";

/** A lone surrogate has no UTF-8 form, so it can only arrive as an escape. */
const MAYBE = /\\u[dD][89a-fA-F]/;
const HALF = /\p{Surrogate}/u;

/** Path of the first text or member name with a lone surrogate. */
const placeOf = (value: unknown, path: readonly string[]): readonly string[] | undefined => {
  if (typeof value === "string") return HALF.test(value) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const place = HALF.test(name) ? path : placeOf(member, [...path, name]);
    if (place) return place;
  }
  return undefined;
};

/** Rejects lone surrogates: they can be neither stored nor forwarded as UTF-8. @param exactMembers members stored as written */
export const surrogateIssues = ({ text, value }: JsonBody, exactMembers: readonly string[] = []): Issue[] => {
  if (!MAYBE.test(text)) return [];
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const judged = isObject ? Object.fromEntries(Object.entries(value).filter(([name]) => !exactMembers.includes(name))) : value;
  const place = placeOf(judged, []);
  return place ? [{ path: place.join("."), message: "has half of a surrogate pair, which isn't a character" }] : [];
};
