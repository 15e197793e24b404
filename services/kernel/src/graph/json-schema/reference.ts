import type { JsonSchema } from "../prices/price";

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** Resolves a reference such as `#/$defs/scene`. @returns undefined if nothing has that address */
export const referenced = (root: JsonSchema, reference: string): unknown =>
  reference
    .split("/")
    .slice(1)
    .map((part) => decoded(part).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined,
      root,
    );
