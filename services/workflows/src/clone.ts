import { createHash, randomUUID } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import { type media as proto } from "@nodeloom/proto";
import { namesIn } from "./definition/named-media";
import { isInline, type Media, type Pictures } from "./definition/pictures";
import { notApproved } from "./definition/errors";
import type { Settings, Workflow } from "./definition/workflow";
import type { Creation } from "./saving";

/** Copies a workflow with its graph and pictures, and the files it refers to. */
export type Clone = (cloning: Cloning) => Promise<Workflow>;

export interface Cloning {
  slug: string;
  userId: string;
  /** The person who copies, if the user is an organization. */
  authorId?: string | undefined;
  /** Name of the copy; empty for the original's name. */
  name: string;
  maxWorkflows: number | undefined;
  reference: string;
  unapproved: boolean;
  mediaQuota: number | undefined;
  withoutRun?: boolean;
}

export interface CloneDeps {
  media: Pick<Media, "copyObjects" | "grantObjects" | "getObjects" | "getObjectsByKey" | "deleteObject">;
  pictures: Pictures;
  /** Reads the workflow with the user's access. @throws DomainError WORKFLOW_NOT_FOUND */
  read(slug: string, userId: string): Promise<Workflow>;
  /** Returns the workflow that an earlier attempt with this reference created. */
  earlierClone(reference: string, ownerId: string): Promise<Workflow | undefined>;
  /** @throws DomainError if the owner has reached the limit */
  checkCap(ownerId: string, max: number | undefined): Promise<void>;
  create(creation: Creation): Promise<Workflow>;
}

type Files = proto.StoredObject[];

const COPY_MS = 120_000;
/** Keys of files that the media service detected as images. */
const PICTURE_FILE = /\.(?:png|jpg|webp|gif|avif)$/;

const textsOf = ({ nodesJson, coverJson, thumbnail }: Workflow): string[] => [
  nodesJson,
  coverJson,
  thumbnail && !isInline(thumbnail) ? thumbnail : "",
];

export const createClone = ({ media, pictures, read, earlierClone, checkCap, create }: CloneDeps): Clone => {
  /** Files of the author that a workflow refers to, by id or URL. */
  const filesOf = async (source: Workflow): Promise<Files> => {
    const names = namesIn(...textsOf(source));
    const ownerId = source.createdBy;
    const [byId, byKey] = await Promise.all([
      inMediaBatches(names, async (ids) => (await media.getObjects({ ids, ownerId })).objects),
      inMediaBatches(names, async (keys) => (await media.getObjectsByKey({ keys })).objects),
    ]);
    const own = [...byId, ...byKey].filter((object) => object.ownerId === ownerId);
    return [...new Map(own.map((object) => [object.id, object])).values()];
  };

  const copy = async (files: Files, source: Workflow, cloning: Cloning, reference: string): Promise<Map<string, proto.StoredObject>> => {
    const copies = await inMediaBatches(
      files.map(({ id }) => id),
      async (ids) => {
        const request = { ids, ownerId: source.createdBy, newOwnerId: cloning.userId, reference, quotaBytes: cloning.mediaQuota };
        return Object.entries((await media.copyObjects(request, { deadlineMs: COPY_MS })).copies);
      },
    );
    return new Map(copies);
  };

  /** Files of others that the author can read aren't copied. Instead the new owner gets access to them. */
  const grantOthers = async (files: Files, source: Workflow, ownerId: string): Promise<void> => {
    const own = new Set(files.flatMap(({ id, key }) => [id, key]));
    const others = namesIn(...textsOf(source)).filter((name) => !own.has(name));
    await inMediaBatches(others, async (keys) => {
      await media.grantObjects({ keys, fromOwnerId: source.createdBy, ownerId });
      return [];
    });
  };

  /** Replaces the originals' names with the names of their copies. */
  const renamed = (text: string, files: Files, copies: ReadonlyMap<string, proto.StoredObject>): string =>
    files.reduce((result, { id, key }) => {
      const twin = copies.get(id);
      if (!twin) return result;
      return result.replaceAll(`"${id}"`, `"${twin.id}"`).replaceAll(`/media/${key}`, `/media/${twin.key}`);
    }, text);

  /** @param unapproved true if the copy's owner awaits approval and therefore can't store a thumbnail */
  const settingsOf = (source: Workflow, name: string, unapproved: boolean, rename: (text: string) => string): Settings => {
    const { description, tags, edgesJson, viewportJson } = source;
    const thumbnail = pictures.safeThumbnail(source.thumbnail);
    // A data URL saved before validation existed may not be an image.
    const isShown = !unapproved && PICTURE_FILE.test(source.thumbnailRef ?? "");
    return {
      ...{ description, tags, edgesJson, viewportJson },
      name: name || source.name,
      ...{ isTemplate: false, hidden: false, archived: false, publicPlayground: false, mcp: false, app: null, folderId: null },
      // The copy's owner chooses how long its runs are kept.
      retentionDays: null,
      nodesJson: rename(source.nodesJson),
      coverJson: rename(pictures.safeCover(source.coverJson)),
      thumbnail: thumbnail && !isInline(thumbnail) ? rename(thumbnail) : isShown ? thumbnail : null,
    };
  };

  return async (cloning) => {
    const { slug, userId, authorId, maxWorkflows, name, mediaQuota, withoutRun = false } = cloning;
    const reference = cloning.reference && `clone\n${cloning.reference}`;
    const existing = reference && (await earlierClone(reference, userId));
    if (existing) return existing;
    const source = await read(slug, userId);
    await checkCap(userId, maxWorkflows);
    const files = await filesOf(source);
    if (files.length > 0 && cloning.unapproved) throw notApproved();
    await grantOthers(files, source, userId);
    const copyReference = createHash("sha256")
      .update(`${userId}\n${reference || randomUUID()}`)
      .digest("hex");
    const copies = files.length === 0 ? new Map<string, proto.StoredObject>() : await copy(files, source, cloning, copyReference);
    try {
      const settings = settingsOf(source, name, cloning.unapproved, (text) => renamed(text, files, copies));
      return await create({ ownerId: userId, authorId, settings, maxWorkflows, reference, unapproved: false, mediaQuota, withoutRun });
    } catch (error) {
      // The copied files aren't needed if the workflow can't be created.
      if (error instanceof DomainError && error.kind === "forbidden") {
        for (const { id } of copies.values()) await media.deleteObject({ id, ownerId: userId });
      }
      throw error;
    }
  };
};
