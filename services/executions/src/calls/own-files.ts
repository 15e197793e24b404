import { isRecord, type MediaUrls } from "@nodeloom/kernel";
import { signaturesOf } from "@nodeloom/platform";
import { media as mediaProto } from "@nodeloom/proto";
import type { Media } from "../clients";
import { inputFailed, QUOTES_ADDRESS } from "./failures";

/** Checks the owners of stored files in a call's inputs, and signs the files' addresses for providers. */

const { URL_LIFETIME_CALL } = mediaProto.UrlLifetime;

/** Returns a copy of a value with changed texts. Only lists and plain objects are copied; other objects are kept. */
const withTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => withTexts(one, change));
  const isPlain = isRecord(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  return isPlain ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withTexts(one, change)])) : value;
};

/** Signs the addresses in a value. */
export type Sign = <T>(value: T) => T;

export type OwnFiles = ReturnType<typeof createOwnFiles>;

export const createOwnFiles =
  (media: Pick<Media, "signUrls">, urls: MediaUrls) =>
  /**
   * @param about start of the error message
   * @throws DomainError EXECUTION_FAILED for a private file of another account; an earlier node may have returned its address
   */
  async (value: unknown, userId: string, about: string): Promise<Sign> => {
    const keys = new Set<string>();
    withTexts(value, (text) => {
      for (const key of urls.keysIn(text)) keys.add(key);
      return text;
    });
    const { queries, refused } = await signaturesOf(media, [...keys], { ownerId: userId, lifetime: URL_LIFETIME_CALL });
    if (refused.length > 0)
      throw inputFailed(`${about}: ${refused[0]!} is a private file of another account: upload it as yours`, QUOTES_ADDRESS);
    return <T>(one: T): T => (queries.size === 0 ? one : (withTexts(one, (text) => urls.signed(text, queries)) as T));
  };
