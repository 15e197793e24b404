import type { MediaUrls } from "@nodeloom/kernel";
import type { media } from "@nodeloom/proto";
import { inMediaBatches } from "./media-calls";
import type { ClientOf } from "../grpc/client";

type Media = Pick<ClientOf<media.MediaServiceServer>, "signUrls">;

/** A text with signed addresses of the files that an owner can read. */
export const withSignedUrls = async (
  { urls, media: client }: { urls: MediaUrls; media: Media },
  text: string,
  { ownerId, lifetime }: { ownerId: string; lifetime: media.UrlLifetime },
): Promise<{ text: string; refused: string[] }> => {
  const refused: string[] = [];
  const queries = await inMediaBatches(urls.keysIn(text), async (keys) => {
    const answer = await client.signUrls({ keys, ownerId, lifetime });
    refused.push(...answer.refused);
    return Object.entries(answer.queries);
  });
  return { text: urls.signed(text, new Map(queries)), refused };
};
