import { PRODUCTION } from "@nodeloom/kernel";
import { insertOnce, isDuplicateKey } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import type { App } from "./apps/app";
import {
  aliasOf,
  type Approved,
  type Bundled,
  type GeneratorUse,
  type Published,
  type ShownFiles,
  type Summary,
  type Takedown,
  type Workflow,
} from "./definition/workflow";
import type { AppRow, BundledHead, ListFilter, ToolRow, WorkflowHead, WorkflowStore } from "./definition/storage";

/** A workflow, or a deleted workflow's slug, which stays reserved for its owner. */
type Row = Omit<Workflow, "slug"> & {
  _id: string;
  formerOwner?: string;
  /** creationId of a deleted workflow whose versions still exist. */
  versionsOf?: string;
  /** creationIds of deleted workflows with this slug, newest last. */
  formerCreations?: string[];
  /** True if the owner is suspended, so that other users don't see the workflow. `ownerRevision` is the user's revision with that state. */
  ownerSuspended?: boolean;
  ownerRevision?: number;
};

type AppDocument = Omit<AppRow, "slug"> & { _id: string };
type ToolDocument = Omit<ToolRow, "slug"> & { _id: string };

const text = { type: String, default: "" };
const flag = { type: Boolean, default: false };
const generator = new Schema<GeneratorUse>({ nodeId: text, model: text, inputsJson: text, items: Number }, { _id: false });

const published = new Schema<Published>(
  { version: Number, revision: Number, graphDigest: text, generators: { type: [generator] }, pinnedModels: { type: Schema.Types.Mixed } },
  { _id: false },
);
const app = new Schema<App>(
  {
    ...{ published: Boolean, payer: String, dailyMillicredits: Number, perVisitorPerDay: Number },
    ...{ title: text, cover: text, theme: String, origins: { type: [String] } },
    ...{ publishedBy: { type: String, default: undefined }, publishedAt: { type: Date, default: undefined } },
  },
  { _id: false },
);
const approved = new Schema<Approved>(
  { version: Number, revision: Number, graphDigest: text, pinnedModels: { type: Schema.Types.Mixed } },
  { _id: false },
);
const takedown = new Schema<Takedown>({ reason: text, at: Date }, { _id: false });

const bundle = new Schema<Bundled>({ name: text, source: text, content: text, tests: { type: Boolean } }, { _id: false });

const rows = new Schema<Row>(
  {
    _id: String,
    creationId: { type: String, required: true },
    name: { type: String, required: true },
    description: text,
    tags: { type: [String] },
    isTemplate: flag,
    hidden: flag,
    archived: flag,
    publicPlayground: flag,
    mcp: { type: Boolean, default: undefined },
    app,
    retentionDays: { type: Number, default: undefined },
    testsJson: { type: String, default: undefined },
    folderId: { type: String, default: null },
    thumbnail: { type: String, default: null },
    coverJson: text,
    nodesJson: text,
    edgesJson: text,
    viewportJson: text,
    createdBy: { type: String, required: true },
    authorId: { type: String, default: undefined },
    revision: { type: Number, required: true },
    generators: { type: [generator] },
    fieldsJson: text,
    valuesJson: text,
    resultsJson: { type: String, default: undefined },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    graphDigest: { type: String, required: true },
    mediaNames: { type: [String] },
    secretNames: { type: [String], default: undefined },
    thumbnailRef: String,
    published,
    aliases: { type: Schema.Types.Mixed, default: undefined },
    approved,
    approvedDraft: approved,
    takedown,
    formerOwner: String,
    versionsOf: String,
    formerCreations: { type: [String], default: undefined },
    featured: { type: Boolean, default: undefined },
    bundle: { type: bundle, default: undefined },
    ownerSuspended: { type: Boolean, default: undefined },
    ownerRevision: { type: Number, default: undefined },
  },
  { collection: "workflows", versionKey: false, minimize: false, strict: "throw" },
);
// Both indexes support lists, which contain own workflows and templates. The first one also supports counting for the limit and emptying
// folders.
rows.index({ createdBy: 1, updatedAt: -1 });
rows.index({ isTemplate: 1, updatedAt: -1 });
// Ensures one workflow per creation, however often it is attempted.
rows.index({ creationId: 1 }, { unique: true });
// Supports CORS preflights of execution URLs, which name the origin but not the app.
rows.index({ "app.origins": 1 }, { sparse: true });
rows.index({ createdBy: 1, "bundle.name": 1 }, { partialFilterExpression: { "bundle.name": { $exists: true } } });
// Finds deleted workflows, because a repeated creation must not restore one.
rows.index({ formerCreations: 1 }, { sparse: true });

/** An explicit list, so that new members don't appear in lists by accident. */
const SUMMARY = {
  ...{ name: 1, description: 1, tags: 1, isTemplate: 1, hidden: 1, archived: 1, folderId: 1, coverJson: 1 },
  ...{ createdBy: 1, authorId: 1, generators: 1, updatedAt: 1, revision: 1, published: 1, thumbnailRef: 1, featured: 1 },
  aliases: 1,
} as const satisfies Record<Exclude<keyof Summary, "slug">, 1>;
const SCHEMA = {
  ...{ name: 1, description: 1, fieldsJson: 1, valuesJson: 1, generators: 1 },
  ...{ createdBy: 1, creationId: 1, published: 1, aliases: 1, approved: 1, approvedDraft: 1 },
} as const;
const BUNDLED_HEAD = {
  ...{
    createdBy: 1,
    creationId: 1,
    revision: 1,
    name: 1,
    description: 1,
    tags: 1,
    graphDigest: 1,
    published: 1,
    aliases: 1,
    bundle: 1,
    testsJson: 1,
  },
} as const;
const TOOL = { name: 1, description: 1, fieldsJson: 1, resultsJson: 1, creationId: 1, published: 1, aliases: 1 } as const;
const APP = {
  ...{ name: 1, description: 1, fieldsJson: 1, valuesJson: 1 },
  ...{ createdBy: 1, createdAt: 1, creationId: 1, published: 1, aliases: 1, approved: 1, app: 1 },
} as const;
const HEAD = {
  _id: 0,
  name: 1,
  revision: 1,
  createdBy: 1,
  creationId: 1,
  published: 1,
  aliases: 1,
  approved: 1,
  approvedDraft: 1,
  isTemplate: 1,
  retentionDays: 1,
} as const satisfies Record<keyof WorkflowHead | "_id", 0 | 1>;
/** Maximum stored creationIds of deleted workflows per slug. */
const FORMER_CREATIONS = 100;
/** Large enough to read a typical list in one round trip. */
const LIST_BATCH = 1_000;

const toWorkflow = <T extends { _id: string }>({ _id, ...rest }: T): Omit<T, "_id"> & { slug: string } => ({ slug: _id, ...rest });

/** Matches workflows that other users can see. */
const SHOWN = { takedown: null, ownerSuspended: { $ne: true } };
const LISTED = { isTemplate: true, ...SHOWN };

const PLAYGROUND = { publicPlayground: true, ...SHOWN };

/** Visitors can pay only for runs of public playgrounds. */
const PUBLISHED_APP = { "app.published": true, ...SHOWN, $or: [{ "app.payer": "owner" }, { publicPlayground: true }] };

const visible = (slug: string, userId: string) => ({ _id: slug, $or: [{ createdBy: userId }, LISTED] });
const runnable = (slug: string, userId: string) => ({ _id: slug, $or: [{ createdBy: userId }, LISTED, PLAYGROUND] });

const SHOWN_FILES = {
  ...{ _id: 0, creationId: 1, published: 1, thumbnail: 1, thumbnailRef: 1 },
  ...{ coverJson: 1, app: 1, fieldsJson: 1, valuesJson: 1 },
} as const;

/** Matches if the newest version is unchanged. */
const stillPublished = ({ published }: Pick<Workflow, "published">): object =>
  published ? { "published.version": published.version } : { published: null };

/** Matches if an alias is unchanged. */
const stillAliased = (head: Pick<Workflow, "aliases">, name: string): object => ({
  [`aliases.${name}.version`]: aliasOf(head, name)?.version ?? null,
});

const atRevision = (revision: number | undefined): { revision?: number } => (revision === undefined ? {} : { revision });

/** Escapes a text for a pattern. A zero character would end the pattern in the database's protocol. */
const escapeRegExp = (value: string): string => value.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll("\0", "\\x00");

/** The conditions of a list other than its owner. */
const narrowed = ({ query, tag, after }: Pick<ListFilter, "query" | "tag" | "after">): object[] => {
  const pattern = query === "" ? undefined : new RegExp(escapeRegExp(query), "i");
  return [
    // One condition per tag, because the embedded server would match all tags as one text with brackets and commas.
    ...(pattern
      ? [
          {
            $or: [
              { name: pattern },
              { description: pattern },
              { tags: { $elemMatch: { $regex: pattern.source, $options: "i" } } },
              { _id: pattern },
            ],
          },
        ]
      : []),
    ...(tag === "" ? [] : [{ tags: tag }]),
    ...(after ? [{ $or: [{ updatedAt: { $lt: after.at } }, { updatedAt: after.at, _id: { $gt: after.id } }] }] : []),
  ];
};

/** Stores workflows in MongoDB. @param listBatch rows per round trip */
export const createWorkflowStore = (connection: Connection, listBatch = LIST_BATCH): WorkflowStore => {
  const model = connection.model<Row>("Workflow", rows);

  const one = async (filter: object): Promise<Workflow | undefined> => {
    const row = await model.findOne(filter).lean<Row>().exec();
    return row ? toWorkflow(row) : undefined;
  };
  const part = async <T>(filter: object, projection: object): Promise<T | undefined> =>
    (await model.collection.findOne<T & object>(filter, { projection })) ?? undefined;

  const find = (filter: object, options: object = {}) =>
    model.collection.find<Summary & { _id: string }>(filter, { projection: SUMMARY, batchSize: listBatch, ...options });

  /** Returns all matches, newest first, if they fit into one batch. Sorting so few rows here is cheaper than in the database. */
  const shortList = async (filter: object): Promise<Summary[] | undefined> => {
    const cursor = find(filter);
    await cursor.hasNext();
    const rows = cursor.readBufferedDocuments().map(toWorkflow);
    const isWhole = cursor.id === undefined || cursor.id.isZero();
    await cursor.close();
    return isWhole ? rows.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()) : undefined;
  };

  /** Yields batches from the driver's own cursor, because one step per row costs more than the rows. */
  async function* summaries(whose: object, filter: ListFilter, limit: number): AsyncIterable<Summary[]> {
    const narrowing = narrowed(filter);
    const all = narrowing.length === 0 ? whose : { $and: [whose, ...narrowing] };
    const short = limit === 0 ? await shortList(all) : undefined;
    if (short) return yield short;
    const cursor = find(all, { sort: { updatedAt: -1, _id: 1 }, limit });
    try {
      while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(toWorkflow);
    } finally {
      await cursor.close();
    }
  }

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
    taken: async (pattern) => {
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
    naming: async (names) => {
      const documents = await model
        .find({ $or: [{ mediaNames: { $in: [...names] } }, { thumbnailRef: { $in: [...names] } }] }, { mediaNames: 1, thumbnailRef: 1 })
        .lean<Pick<Row, "mediaNames" | "thumbnailRef">[]>()
        .exec();
      return documents.flatMap(({ mediaNames, thumbnailRef }) => (thumbnailRef ? [...mediaNames, thumbnailRef] : mediaNames));
    },
    shownBy: async (createdBy) => {
      const documents = await model
        .find({ createdBy, $or: [LISTED, PLAYGROUND, PUBLISHED_APP] } as object, SHOWN_FILES)
        .limit(LIST_BATCH)
        .lean<ShownFiles[]>()
        .exec();
      return documents;
    },
    secretUses: async (createdBy, limit) => {
      const documents = await model
        .find({ createdBy, "secretNames.0": { $exists: true } }, { name: 1, secretNames: 1 })
        .sort({ updatedAt: -1 })
        .limit(limit)
        .lean<(Pick<Row, "_id" | "name"> & { secretNames: string[] })[]>()
        .exec();
      return documents.map(({ _id: slug, name, secretNames }) => ({ slug, name, secretNames }));
    },
    modelUses: async (models, afterOwner, limit) => {
      const modelFilter = { $in: [...models] };
      const documents = await model
        .find(
          { createdBy: { $gt: afterOwner }, $or: [{ "generators.model": modelFilter }, { "published.generators.model": modelFilter }] },
          { name: 1, createdBy: 1, "generators.model": 1, "published.generators.model": 1 },
        )
        .sort({ createdBy: 1, _id: 1 })
        .allowDiskUse(true)
        .limit(limit)
        .lean<(Pick<Row, "_id" | "name" | "createdBy" | "generators"> & { published?: Pick<Published, "generators"> | null })[]>()
        .exec();
      return documents.map(({ _id: slug, name, createdBy: ownerId, generators, published: version }) => {
        const all = new Set([...generators, ...(version?.generators ?? [])].map((use) => use.model));
        return { ownerId, slug, name, models: models.filter((one) => all.has(one)) };
      });
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
