import { thumbnailFileId } from "./inline-thumbnails";
import { isInline, type Media, type Pictures } from "../definition/pictures";
import type { Summary } from "../definition/workflow";
import type { WorkflowStore } from "../definition/storage";

/** Resolves URLs of thumbnails for lists. Data URLs saved by old versions are stored as files when a list first shows them. */
export interface ThumbnailsDeps {
  store: Pick<WorkflowStore, "thumbnails" | "setThumbnailRef">;
  media: Pick<Media, "ingest">;
  pictures: Pictures;
  warn(error: unknown, slug: string): void;
}

/** Maximum files stored per list. Later lists store the remaining ones. */
const MOST_AT_ONCE = 32;
const STORE_MS = 3_000;

export type ThumbnailAddresses = (rows: readonly Summary[]) => Promise<Map<string, string>>;

/** Returns URLs of thumbnails by slug. Rows without a thumbnail are omitted. */
export const createThumbnailAddresses = ({ store, media, pictures, warn }: ThumbnailsDeps): ThumbnailAddresses => {
  /** Returns the thumbnail in its form for lists; undefined if it can't be determined now. */
  const makeRef = async (row: Summary, thumbnail: string | null): Promise<string | null | undefined> => {
    if (!thumbnail || !isInline(thumbnail)) return thumbnail;
    try {
      const request = {
        id: thumbnailFileId(row.slug, thumbnail),
        ownerId: row.createdBy,
        sourceUrl: thumbnail,
        accept: [],
        sourceOrigin: 0,
        making: undefined,
      };
      const { object } = await media.ingest(request, { deadlineMs: STORE_MS });
      return object?.key;
    } catch (error) {
      warn(error, row.slug);
      return undefined;
    }
  };

  /** Stores the thumbnail's form for use by later lists. */
  const settle = async (row: Summary, thumbnail: string | null): Promise<[string, string | null | undefined]> => {
    const ref = await makeRef(row, thumbnail);
    if (ref !== undefined) await store.setThumbnailRef(row.slug, row.revision, ref);
    return [row.slug, ref];
  };

  return async (rows) => {
    const refs = new Map<string, string | null | undefined>(rows.map(({ slug, thumbnailRef }) => [slug, thumbnailRef]));
    const open = rows.filter(({ thumbnailRef }) => thumbnailRef === "");
    if (open.length > 0) {
      const thumbnails = await store.thumbnails(open.map(({ slug }) => slug));
      const inline = open.filter(({ slug }) => isInline(thumbnails.get(slug) ?? ""));
      const late = new Set(inline.slice(MOST_AT_ONCE));
      const settled = await Promise.all(open.filter((row) => !late.has(row)).map((row) => settle(row, thumbnails.get(row.slug) ?? null)));
      for (const [slug, ref] of settled) refs.set(slug, ref);
    }
    return new Map(
      [...refs].flatMap(([slug, ref]): [string, string][] => {
        if (!ref) return [];
        return [[slug, ref.includes("/") || ref.includes(":") ? ref : pictures.addressOf(ref)]];
      }),
    );
  };
};
