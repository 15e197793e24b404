import { invalidRequest } from "@nodeloom/kernel";

/** Preferences of a request (RFC 7240) that runs support. */
export interface Preferences {
  /** Return at once; the client polls. */
  respondAsync: boolean;
  /** Reject the run instead of queueing it. */
  noQueue: boolean;
  /** Seconds. */
  wait: number | undefined;
}

/** A preference or parameter: a token, optionally with a value that is a token or quoted. */
const PREFERENCE = /^([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*([\w!#$%&'*+.^`|~-]+|"[^"\\]*"))?$/;
const FLAGS: ReadonlySet<string> = new Set(["respond-async", "no-queue"]);

const unreadable = (text: string, message: string) => invalidRequest([{ path: "Prefer", message: `${text.slice(0, 100)}: ${message}` }]);

const read = (text: string): [name: string, value: string | undefined] => {
  const [, name = "", preferenceValue] = PREFERENCE.exec(text) ?? [];
  if (name === "") throw unreadable(text, "isn't a preference");
  const value = preferenceValue?.replaceAll('"', "");
  if (name.toLowerCase() === "wait" && !/^\d+$/.test(value ?? "")) throw unreadable(text, "must be wait=<seconds>, a whole number");
  if (FLAGS.has(name.toLowerCase()) && value) throw unreadable(text, "can't have a value");
  return [name.toLowerCase(), value];
};

/**
 * Parses the header. The first of repeated preferences counts, and unknown ones are ignored.
 * @throws INVALID_REQUEST for a malformed header
 */
export const readPrefer = (header: string | string[] | undefined): Preferences => {
  const texts = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(/[,;]/).map((one) => one.trim());
  const preferences = texts.filter((text) => text !== "").map(read);
  const wait = preferences.find(([name]) => name === "wait")?.[1];
  const has = (flag: string): boolean => preferences.some(([name]) => name === flag);
  return { respondAsync: has("respond-async"), noQueue: has("no-queue"), wait: wait === undefined ? undefined : Number(wait) };
};
