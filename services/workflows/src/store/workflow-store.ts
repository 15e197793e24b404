import { PRODUCTION } from "@nodeloom/kernel";
import { insertOnce, isDuplicateKey } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import { aliasOf, type ShownFiles, type Workflow } from "../definition/workflow";
import type { AppRow, BundledHead, ToolRow, WorkflowStore } from "../definition/storage";
import { createLists } from "./lists";
import { APP, BUNDLED_HEAD, HEAD, SCHEMA, SHOWN_FILES, TOOL } from "./projections";
import { rows, toWorkflow, type Row } from "./row";
import { createUses } from "./uses";

type AppDocument = Omit<AppRow, "slug"> & { _id: string };
type ToolDocument = Omit<ToolRow, "slug"> & { _id: string };

/** Maximum stored creationIds of deleted workflows per slug. */
const FORMER_CREATIONS = 100;
/** Large enough to read a typical list in one round trip. */
const LIST_BATCH = 1_000;

/** Matches workflows that other users can see. */
const SHOWN = { takedown: null, ownerSuspended: { $ne: true } };
const LISTED = { isTemplate: true, ...SHOWN };

const PLAYGROUND = { publicPlayground: true, ...SHOWN };

/** Visitors can pay only for runs of public playgrounds. */
const PUBLISHED_APP = { "app.published": true, ...SHOWN, $or: [{ "app.payer": "owner" }, { publicPlayground: true }] };

const visible = (slug: string, userId: string) => ({ _id: slug, $or: [{ createdBy: userId }, LISTED] });
const runnable = (slug: string, userId: string) => ({ _id: slug, $or: [{ createdBy: userId }, LISTED, PLAYGROUND] });

/** Matches if the newest version is unchanged. */
const stillPublished = ({ published }: Pick<Workflow, "published">): object =>
  published ? { "published.version": published.version } : { published: null };

/** Matches if an alias is unchanged. */
const stillAliased = (head: Pick<Workflow, "aliases">, name: string): object => ({
  [`aliases.${name}.version`]: aliasOf(head, name)?.version ?? null,
  [`aliases.${name}.canary.id`]: aliasOf(head, name)?.canary?.id ?? null,
});

const atRevision = (revision: number | undefined): { revision?: number } => (revision === undefined ? {} : { revision });

/** Stores workflows in MongoDB. @param listBatch rows per round trip */
export const createWorkflowStore = (connection: Connection, listBatch = LIST_BATCH): WorkflowStore => {
  const model = connection.model<Row>("Workflow", rows);
  const summaries = createLists(model, listBatch);

  const one = async (filter: object): Promise<Workflow | undefined> => {
    const row = await model.findOne(filter).lean<Row>().exec();
    return row ? toWorkflow(row) : undefined;
  };
  const part = async <T>(filter: object, projection: object): Promise<T | undefined> =>
    (await model.collection.findOne<T & object>(filter, { projection })) ?? undefined;

  const publishedApps = async (filter: object, limit: number): Promise<AppRow[]> => {
    const documents = await model
      .find({ ...filter, ...PUBLISHED_APP } as object, APP)
      .sort({ updatedAt: -1 })
      .limit(limit)
      .lean<AppDocument[]>()
      .exec();
    return documents.map(toWorkflow);
  };

  return {
    ...createUses(model),
    insert: async ({ slug, ...rest }) => {
      return insertOnce(model.create([{ _id: slug, ...rest }]));
    },
    reclaim: async ({ slug, ...rest }) => {
      try {
        // Excludes workflows that may still have versions.
        const free = { _id: slug, formerOwner: rest.createdBy, versionsOf: null };
        const change = { $set: rest, $unset: { formerOwner: "", versionsOf: "" } };
        return (await model.updateOne(free as object, change as object).exec()).modifiedCount === 1;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    usedSlugs: async (pattern) => {
      const documents = await model
        .find({ _id: pattern }, { formerOwner: 1, versionsOf: 1 })
        .lean<Pick<Row, "_id" | "formerOwner" | "versionsOf">[]>()
        .exec();
      return new Map(documents.map(({ _id, formerOwner, versionsOf }) => [_id, versionsOf ? undefined : formerOwner]));
    },
    visible: (slug, userId) => one(visible(slug, userId)),
    runnable: (slug, userId) => one(runnable(slug, userId)),
    runnableHead: (slug, userId) => part(runnable(slug, userId), HEAD),
    runnableSchema: (slug, userId) => part(runnable(slug, userId), SCHEMA),
    publicSchema: (slug) => part({ _id: slug, ...PLAYGROUND }, SCHEMA),
    tools: async (ownerId, { after, slug }, limit) => {
      const filter = { createdBy: ownerId, mcp: true, _id: slug === "" ? { $gt: after } : slug };
      const documents = await model.find(filter, TOOL).sort({ _id: 1 }).limit(limit).lean<ToolDocument[]>().exec();
      return documents.map(toWorkflow);
    },
    app: async (slug) => {
      const document = await model
        .findOne({ _id: slug, ...PUBLISHED_APP } as object, APP)
        .lean<AppDocument>()
        .exec();
      return document ? toWorkflow(document) : undefined;
    },
    apps: (ownerId, limit) => publishedApps({ createdBy: ownerId }, limit),
    appsOfOrigin: (origin, limit) => publishedApps({ "app.origins": origin }, limit),
    owned: (slug, ownerId) => one({ _id: slug, createdBy: ownerId }),
    created: (creationId, ownerId) => one({ creationId, createdBy: ownerId }),
    bundled: async (ownerId, names) => {
      const filter = { createdBy: ownerId, $or: [{ "bundle.name": { $in: [...names] } }, { _id: { $in: [...names] } }] };
      const documents = await model.find(filter, BUNDLED_HEAD).lean<(Omit<BundledHead, "slug"> & { _id: string })[]>().exec();
      return documents.map(({ _id: slug, ...head }) => ({ slug, ...head }));
    },
    setBundle: async ({ slug, createdBy, creationId }, bundle) => {
      await model.updateOne({ _id: slug, createdBy, creationId }, { $set: { bundle } }).exec();
    },
    wasRemoved: async (creationId) => (await model.exists({ formerCreations: creationId }).exec()) !== null,
    ownSummaries: (ownerId, filter, limit) => {
      const { folderId } = filter;
      return summaries({ createdBy: ownerId, ...(folderId === undefined ? {} : { folderId }) }, filter, limit);
    },
    othersTemplates: (userId, filter, limit) => summaries({ ...LISTED, createdBy: { $ne: userId } }, filter, limit),
    thumbnails: async (slugs) => {
      const documents = await model
        .find({ _id: { $in: [...slugs] } }, { thumbnail: 1 })
        .lean<Pick<Row, "_id" | "thumbnail">[]>()
        .exec();
      return new Map(documents.map(({ _id, thumbnail }) => [_id, thumbnail ?? null]));
    },
    setThumbnailRef: async (slug, revision, thumbnailRef) => {
      await model.updateOne({ _id: slug, revision }, { $set: { thumbnailRef } }).exec();
    },
    replace: async (head, members) => {
      const { slug, createdBy, revision } = head;
      const asRead = { _id: slug, createdBy, revision, ...stillPublished(head), ...stillAliased(head, PRODUCTION) };
      const { matchedCount } = await model.updateOne(asRead as object, { $set: members }).exec();
      return matchedCount === 1;
    },
    move: async ({ slug, ownerId, ifRevision }, folderId, at) => {
      const row = await model
        .findOneAndUpdate(
          { _id: slug, createdBy: ownerId, ...atRevision(ifRevision) },
          { $set: { folderId, updatedAt: at }, $inc: { revision: 1 } },
          { returnDocument: "after" },
        )
        .lean<Row>()
        .exec();
      return row ? toWorkflow(row) : undefined;
    },
    leaveFolder: async (folderId, ownerId, at, slug) => {
      const filter = { createdBy: ownerId, folderId, ...(slug === undefined ? {} : { _id: slug }) };
      await model.updateMany(filter, { $set: { folderId: null, updatedAt: at }, $inc: { revision: 1 } }).exec();
    },
    setPublished: async (head, now, approved) => {
      const { slug, createdBy, creationId } = head;
      const asRead = { _id: slug, createdBy, creationId, ...stillPublished(head) };
      await model.updateOne(asRead as object, { $set: { published: now, approved } }).exec();
    },
    setAlias: async (head, name, alias) => {
      const { slug, createdBy, creationId, revision } = head;
      const asRead = { _id: slug, createdBy, creationId, revision, ...stillPublished(head), ...stillAliased(head, name) };
      const removal = { $unset: { [`aliases.${name}`]: "" }, ...(name === PRODUCTION ? { $set: { approved: null } } : {}) };
      const change = alias ? { $set: { [`aliases.${name}`]: alias } } : removal;
      return (await model.collection.updateOne(asRead as object, change)).matchedCount === 1;
    },
    approveDraft: async ({ slug, createdBy, creationId, revision }) => {
      await model.updateOne({ _id: slug, createdBy, creationId, revision }, { $set: { approvedDraft: null } }).exec();
    },
    approve: async (head) => {
      const { slug, createdBy, creationId, revision } = head;
      const asRead = { _id: slug, createdBy, creationId, revision, ...stillPublished(head) };
      return (await model.updateOne(asRead as object, { $set: { approved: null, approvedDraft: null } }).exec()).matchedCount === 1;
    },
    moderate: async (slug, next) => {
      const filter = { _id: slug, $or: [{ isTemplate: true }, { takedown: { $ne: null } }] };
      const before = await model
        .findOneAndUpdate(
          filter as object,
          { $set: { takedown: next } },
          { returnDocument: "before", projection: { takedown: 1, featured: 1 } },
        )
        .lean<Pick<Row, "takedown" | "featured">>()
        .exec();
      return before ? { before: before.takedown ?? null, featured: before.featured ?? false } : undefined;
    },
    feature: async (slug, featured) => {
      const before = await model
        .findOneAndUpdate(
          { _id: slug, isTemplate: true },
          { $set: { featured } },
          { returnDocument: "before", projection: { takedown: 1, featured: 1 } },
        )
        .lean<Pick<Row, "takedown" | "featured">>()
        .exec();
      return before ? { before: before.featured ?? false, takedown: before.takedown ?? null } : undefined;
    },
    setOwnerSuspended: async (ownerId, ownerSuspended, ownerRevision) => {
      const older = { createdBy: ownerId, $or: [{ ownerRevision: null }, { ownerRevision: { $lt: ownerRevision } }] };
      await model.updateMany(older as object, { $set: { ownerSuspended, ownerRevision } }).exec();
    },
    remove: async ({ slug, ownerId, ifRevision }) => {
      const filter = { _id: slug, createdBy: ownerId, ...atRevision(ifRevision) };
      const parts = { creationId: 1, formerCreations: 1 };
      const creations = await model.findOne(filter, parts).lean<Pick<Row, "creationId" | "formerCreations">>().exec();
      if (!creations) return undefined;
      const { creationId } = creations;
      const formerCreations = [...(creations.formerCreations ?? []), creationId].slice(-FORMER_CREATIONS);
      // The row stays to reserve the slug. It needs another value for the unique creationId.
      const mark = { formerOwner: ownerId, versionsOf: creationId, creationId: `deleted:${creationId}`, formerCreations };
      const { modifiedCount } = await model.collection.replaceOne({ ...filter, creationId } as object, mark);
      return modifiedCount === 1 ? creationId : undefined;
    },
    endRemoval: async (creationId) => {
      await model.updateOne({ creationId: `deleted:${creationId}` }, { $unset: { versionsOf: "" } }).exec();
    },
    unfinishedRemovals: async (limit) => {
      const documents = await model
        .find({ versionsOf: { $ne: null } } as object, { versionsOf: 1 })
        .limit(limit)
        .lean<Pick<Row, "versionsOf">[]>()
        .exec();
      return documents.map(({ versionsOf }) => versionsOf!);
    },
    slugsOf: async (createdBy, limit) => {
      const documents = await model.find({ createdBy }, { _id: 1 }).limit(limit).lean<{ _id: string }[]>().exec();
      return documents.map(({ _id }) => _id);
    },
    forgetCreations: async (formerOwner) => {
      const remembered = { formerOwner, formerCreations: { $exists: true } };
      return (await model.updateMany(remembered, { $unset: { formerCreations: "" } }).exec()).modifiedCount;
    },
    shownBy: async (createdBy) => {
      const documents = await model
        .find({ createdBy, $or: [LISTED, PLAYGROUND, PUBLISHED_APP] } as object, SHOWN_FILES)
        .limit(LIST_BATCH)
        .lean<ShownFiles[]>()
        .exec();
      return documents;
    },
    creationIds: async (ownerId, isTemplate, limit) => {
      const documents = await model
        .find({ createdBy: ownerId, isTemplate }, { creationId: 1 })
        .limit(limit)
        .lean<Pick<Row, "creationId">[]>()
        .exec();
      return documents.map((row) => row.creationId);
    },
  };
};
