import { invalidRequest } from "@nodeloom/kernel";

/** Preferences of a request (RFC 7240), as far as runs know them. */
export interface Preferences {
  /** Answer at once, and let the run be polled. */
  respondAsync: boolean;
  /** Refuse the run instead of letting it wait in line. */
  noQueue: boolean;
  /** Seconds. */
  wait: number | undefined;
}

/** A preference or a parameter of one: a token, and perhaps a value that is a token or quoted. */
const PREFERENCE = /^([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*([\w!#$%&'*+.^`|~-]+|"[^"\\]*"))?$/;
const FLAGS: ReadonlySet<string> = new Set(["respond-async", "no-queue"]);

const unreadable = (text: string, message: string) => invalidRequest([{ path: "Prefer", message: `${text.slice(0, 100)}: ${message}` }]);

const read = (text: string): [name: string, value: string | undefined] => {
  const [, name = "", given] = PREFERENCE.exec(text) ?? [];
  if (name === "") throw unreadable(text, "is no preference");
  const value = given?.replaceAll('"', "");
  if (name.toLowerCase() === "wait" && !/^\d+$/.test(value ?? "")) throw unreadable(text, "must be wait=<seconds>, a whole number");
  if (FLAGS.has(name.toLowerCase()) && value) throw unreadable(text, "takes no value");
  return [name.toLowerCase(), value];
};

/**
 * Reads the header; of a preference that is given twice the first counts, and others than these are left aside.
 * @throws INVALID_REQUEST for what can't be read
 */
export const readPrefer = (header: string | string[] | undefined): Preferences => {
  const texts = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(/[,;]/).map((one) => one.trim());
  const given = texts.filter((text) => text !== "").map(read);
  const wait = given.find(([name]) => name === "wait")?.[1];
  const has = (flag: string): boolean => given.some(([name]) => name === flag);
  return { respondAsync: has("respond-async"), noQueue: has("no-queue"), wait: wait === undefined ? undefined : Number(wait) };
};
