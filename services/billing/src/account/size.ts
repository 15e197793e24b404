/** Size of an account's document. */

import type { Account } from "./account";

const HEADER_BYTES = 5;
const NUMBER_BYTES = 8;
/** Type and terminator of a member's name. */
const NAME_BYTES = 2;

const sizes = new WeakMap<object, number>();

const measure = (value: object): number => {
  if (value instanceof Date) return NUMBER_BYTES;
  const members = Object.entries(value).map(([name, member]) => NAME_BYTES + Buffer.byteLength(name) + bytesOf(member));
  return members.reduce((sum, bytes) => sum + bytes, HEADER_BYTES);
};

/** Upper bound of a value's size as BSON. Values never change, so each is measured once. */
export const bytesOf = (value: unknown): number => {
  if (typeof value === "string") return HEADER_BYTES + Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return NUMBER_BYTES;
  const size = sizes.get(value);
  if (size !== undefined) return size;
  const bytes = measure(value);
  sizes.set(value, bytes);
  return bytes;
};

/** Upper bound of the size of an account's document. */
export const documentBytes = (account: Account): number => measure(account);
