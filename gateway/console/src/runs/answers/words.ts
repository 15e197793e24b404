import { isRecord } from "@nodeloom/kernel/graph";

/** A value as lines of text, for places without room for a table. */
export const plainWords = (value: unknown): string => {
  if (typeof value === "string") return value;
  if (Array.isArray(value))
    return value
      .map((one, index) => `${index + 1}. ${isRecord(one) ? Object.values(one).map(plainWords).join(" — ") : plainWords(one)}`)
      .join("\n");
  if (isRecord(value))
    return Object.entries(value)
      .map(([name, one]) => `${name}: ${Array.isArray(one) ? `\n${plainWords(one)}` : plainWords(one)}`)
      .join("\n");
  return value === null || value === undefined ? "" : String(value as number | boolean);
};
