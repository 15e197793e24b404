import type { MediaUrls } from "@nodeloom/kernel";
import type { media } from "@nodeloom/proto";
import { inMediaBatches } from "./media-calls";
import type { ClientOf } from "../grpc/client";

type Media = ClientOf<media.MediaServiceServer>;

interface Reader {
  ownerId: string;
  lifetime: media.UrlLifetime;
}

/** Returns the queries of signed URLs by file key, and the private files that the owner can't read. */
export const signaturesOf = async (client: Pick<Media, "signUrls">, keys: readonly string[], reader: Reader) => {
  const refusedUrls: string[] = [];
  const queries = await inMediaBatches(keys, async (batch) => {
    const answer = await client.signUrls({ keys: batch, ...reader });
    refusedUrls.push(...answer.refused);
    return Object.entries(answer.queries);
  });
  return { queries: new Map(queries), refused: refusedUrls };
};

/** Signs the URLs of files in a stored text, if the owner can read the files. URLs with an earlier base are moved to the current one. */
export const withSignedUrls = async (
  { urls, media: client }: { urls: MediaUrls; media: Pick<Media, "signUrls"> },
  storedText: string,
  reader: Reader,
): Promise<string> => {
  const text = urls.current(storedText);
  return urls.signed(text, (await signaturesOf(client, urls.keysIn(text), reader)).queries);
};

/** The URLs in a request, by file key. If a file occurs repeatedly, a URL with a signature takes precedence. */
export const sentByKey = (sentUrls: readonly media.SentUrl[]): Map<string, media.SentUrl> =>
  new Map(
    [...sentUrls.filter(({ signature }) => signature === ""), ...sentUrls.filter(({ signature }) => signature !== "")].map((url) => [
      url.key,
      url,
    ]),
  );

/**
 * Checks the URLs of files in a request. Valid signatures become grants.
 * @returns keys of private files that the owner can't read
 */
export const admitUrls = (
  client: Pick<Media, "admitUrls">,
  byKey: ReadonlyMap<string, media.SentUrl>,
  caller: { ownerId: string; byVisitor: boolean },
): Promise<string[]> =>
  inMediaBatches(
    [...byKey.keys()],
    async (keys) => (await client.admitUrls({ urls: keys.map((key) => byKey.get(key)!), ...caller })).refused,
  );

/**
 * Checks the URLs of files in a text, such as a request body, and removes their signatures.
 * @param refusal creates the error for the key of a private file that the owner can't read
 */
export const enteredText = async (
  { urls, media: client }: { urls: Pick<MediaUrls, "unsigned" | "current">; media: Pick<Media, "admitUrls"> },
  sentText: string,
  ownerId: string,
  refusal: (key: string) => Error,
): Promise<string> => {
  const { text, urls: sentUrls } = urls.unsigned(urls.current(sentText));
  const [refusedUrl] = await admitUrls(client, sentByKey(sentUrls), { ownerId, byVisitor: false });
  if (refusedUrl !== undefined) throw refusal(refusedUrl);
  return text;
};
