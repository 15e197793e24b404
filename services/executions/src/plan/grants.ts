/**
 * A run reads the files that its graphs refer to, including graphs of other users. The run's account therefore gets grants to these files.
 */
import type { MediaUrls, MediaValue } from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { Media } from "../clients";
import { files } from "./files";

export type Grants = ReturnType<typeof createGrants>;

export const createGrants = ({ media, urls }: { media: Media; urls: MediaUrls }) => {
  /** Finds the addresses of files in a text, and grants an account the files that the author can read. */
  const grantNamed = async (text: string, authorId: string, userId: string): Promise<void> => {
    if (authorId === userId) return;
    await inMediaBatches(urls.keysIn(text), async (keys) => {
      await media.grantObjects({ keys, fromOwnerId: authorId, ownerId: userId });
      return [];
    });
  };

  /** Returns an author's files by id after granting them to an account. */
  const authorsFiles = async (ids: readonly string[], authorId: string, userId: string): Promise<Map<string, MediaValue>> => {
    const authorFiles = await files(media, ids, authorId);
    await grantNamed(JSON.stringify([...authorFiles.values()]), authorId, userId);
    return authorFiles;
  };

  return { grantNamed, authorsFiles };
};
