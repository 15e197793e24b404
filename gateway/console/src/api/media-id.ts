import { api, request } from "./client";

/** Of the list of files, so many pages are looked through. */
const MOST_PAGES = 5;
const PAGE = 100;

/**
 * The id of a file of one's own by its address; a file that the list does not have (any more) is uploaded again.
 * @throws NodeloomError
 */
export const mediaIdOf = async (url: string): Promise<string> => {
  const path = new URL(url, location.origin).pathname;
  let cursor: string | null | undefined;
  for (let pages = 0; pages < MOST_PAGES && cursor !== null; pages += 1) {
    const query: { limit: number; cursor?: string } = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const { body } = await request("listMedia", { query });
    const found = body.rows.find((file) => new URL(file.url, location.origin).pathname === path);
    if (found) return found.id;
    cursor = body.nextCursor;
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The file can't be read any more (${response.status}).`);
  return (await api.upload(await response.blob())).id;
};
