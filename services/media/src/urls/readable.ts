import { SourceError } from "../source";
import type { Urls } from "./urls";

const KEY = /^[A-Za-z0-9][A-Za-z0-9._-]*/;

/**
 * Returns a URL that can be fetched. A URL in media storage is signed with the rights of the owner.
 * @param own URL prefix of files in media storage
 * @throws SourceError for another account's private file
 */
export const readableUrl = async (urls: Pick<Urls, "sign">, own: string, url: string, ownerId: string): Promise<string> => {
  const key = url.startsWith(own) ? KEY.exec(url.slice(own.length))?.[0] : undefined;
  if (key === undefined) return url;
  const { queries, refused } = await urls.sign([key], ownerId, "call");
  if (refused.length > 0) throw new SourceError("is a private file of another account");
  const query = queries.get(key);
  return query === undefined ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`;
};
