import { Schema } from "mongoose";
import type { App } from "../definition/app";
import type { ApprovedGraph, BundleOrigin, GeneratorUse, PublishedVersion, Takedown, Workflow } from "../definition/workflow";

/** A workflow, or a deleted workflow's slug, which stays reserved for its owner. */
export type Row = Omit<Workflow, "slug"> & {
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

/** A stored row as a workflow, or a part of one. */
export const toWorkflow = <T extends { _id: string }>({ _id, ...rest }: T): Omit<T, "_id"> & { slug: string } => ({ slug: _id, ...rest });

const text = { type: String, default: "" };
const flag = { type: Boolean, default: false };
const generator = new Schema<GeneratorUse>({ nodeId: text, model: text, inputsJson: text, items: Number }, { _id: false });

const published = new Schema<PublishedVersion>(
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
const approved = new Schema<ApprovedGraph>(
  { version: Number, revision: Number, graphDigest: text, pinnedModels: { type: Schema.Types.Mixed } },
  { _id: false },
);
const takedown = new Schema<Takedown>({ reason: text, at: Date }, { _id: false });

const bundle = new Schema<BundleOrigin>({ name: text, source: text, content: text, tests: { type: Boolean } }, { _id: false });

export const rows = new Schema<Row>(
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
