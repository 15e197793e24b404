import { createHash } from "node:crypto";

const HEX_PARTS = [8, 12, 16, 20, 32] as const;

/** Derives a UUID from names; equal parts result in equal ids. Version 8 with custom bits (RFC 9562). */
export const derivedId = (...parts: readonly string[]): string => {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest();
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString("hex");
  return HEX_PARTS.map((end, index) => hex.slice(HEX_PARTS[index - 1] ?? 0, end)).join("-");
};
