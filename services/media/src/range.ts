import type { ByteRange } from "./blobs/blobs";

const BYTES = /^bytes=/i;
const PART = /^(\d*)-(\d*)$/;

/** Parses one part of a `Range` header. Returns undefined if it is malformed, null if it is outside the file. */
const partOf = (part: string, size: number): ByteRange | null | undefined => {
  const [, first = "", last = ""] = PART.exec(part) ?? [];
  if (first === "" && last === "") return undefined;
  // A suffix range means the last n bytes, or the whole file.
  if (first === "") return Number(last) === 0 ? null : { start: Math.max(0, size - Number(last)), end: size - 1 };
  if (last !== "" && Number(first) > Number(last)) return undefined;
  if (Number(first) >= size) return null;
  return { start: Number(first), end: last === "" ? size - 1 : Math.min(Number(last), size - 1) };
};

/** Returns the range of a `Range` header (RFC 9110, 14.2). If it has several ranges or is malformed, the whole file is sent. */
export const readRange = (header: string, size: number): ByteRange | "unsatisfiable" | undefined => {
  if (!BYTES.test(header)) return undefined;
  const parts = header.replace(BYTES, "").split(",");
  // Empty list elements are ignored (RFC 9110, 5.6.1).
  const rangeParts = parts.map((part) => part.trim()).filter((part) => part !== "");
  const ranges = rangeParts.map((part) => partOf(part, size));
  if (ranges.length === 0 || ranges.includes(undefined)) return undefined;
  const [only, ...others] = ranges.filter((range) => range !== null);
  if (!only) return "unsatisfiable";
  return others.length === 0 ? only : undefined;
};
