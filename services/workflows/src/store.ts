import { isDuplicateKey } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import type { GeneratorUse, Summary, Workflow } from "./workflow";
import type { WorkflowStore } from "./workflows";

type Row = Omit<Workflow, "slug"> & { _id: string };

const text = { type: String, default: "" };
const flag = { type: Boolean, default: false };
const generator = new Schema<GeneratorUse>({ nodeId: text, model: text, inputsJson: text, items: Number }, { _id: false });

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
    folderId: { type: String, default: null },
    thumbnail: { type: String, default: null },
    coverJson: text,
    nodesJson: text,
    edgesJson: text,
    viewportJson: text,
    createdBy: { type: String, required: true },
    revision: { type: Number, required: true },
    generators: { type: [generator] },
    fieldsJson: text,
    valuesJson: text,
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { collection: "workflows", versionKey: false, minimize: false, strict: "throw" },
);
// The two halves of a list; the first also counts against the cap and empties folders.
rows.index({ createdBy: 1, updatedAt: -1 });
rows.index({ isTemplate: 1, updatedAt: -1 });
// One workflow per creation, however often it is attempted.
rows.index({ creationId: 1 }, { unique: true });

/** Named one by one: what a workflow gets later is no part of lists by itself. */
const SUMMARY = {
  ...{ name: 1, description: 1, tags: 1, isTemplate: 1, hidden: 1, archived: 1, folderId: 1, thumbnail: 1, coverJson: 1 },
  ...{ createdBy: 1, generators: 1, updatedAt: 1 },
} as const satisfies Record<Exclude<keyof Summary, "slug">, 1>;
const SCHEMA = { name: 1, description: 1, fieldsJson: 1, valuesJson: 1, generators: 1 } as const;
/** A list of ordinary length is one exchange with the server. */
const LIST_BATCH = 1_000;

const toWorkflow = <T extends { _id: string }>({ _id, ...rest }: T): Omit<T, "_id"> & { slug: string } => ({ slug: _id, ...rest });

const visible = (slug: string, userId: string) => ({ _id: slug, $or: [{ createdBy: userId }, { isTemplate: true }] });

/** Workflows in MongoDB. @param listBatch rows of a list per exchange with the server */
export const createWorkflowStore = (connection: Connection, listBatch = LIST_BATCH): WorkflowStore => {
  const model = connection.model<Row>("Workflow", rows);

  const one = async (filter: object): Promise<Workflow | undefined> => {
    const row = await model.findOne(filter).lean<Row>().exec();
    return row ? toWorkflow(row) : undefined;
  };
  const part = async <T>(filter: object, projection: object): Promise<T | undefined> =>
    (await model.findOne(filter, projection).lean<T>().exec()) ?? undefined;

  const find = (filter: object, options: object = {}) =>
    model.collection.find<Summary & { _id: string }>(filter, { projection: SUMMARY, batchSize: listBatch, ...options });

  /** Everything that matches, newest first, where one batch holds it. To order so few rows costs less here than there. */
  const shortList = async (filter: object): Promise<Summary[] | undefined> => {
    const cursor = find(filter);
    await cursor.hasNext();
    const rows = cursor.readBufferedDocuments().map(toWorkflow);
    const isWhole = cursor.id === undefined || cursor.id.isZero();
    await cursor.close();
    return isWhole ? rows.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime()) : undefined;
  };

  /** Batches as they arrive, by the driver's own cursor: one step per row costs more than the rows do. */
  async function* summaries(filter: object): AsyncIterable<Summary[]> {
    const short = await shortList(filter);
    if (short) return yield short;
    const cursor = find(filter, { sort: { updatedAt: -1 } });
    try {
      while (await cursor.hasNext()) yield cursor.readBufferedDocuments().map(toWorkflow);
    } finally {
      await cursor.close();
    }
  }

  return {
    createIndexes: () => model.createIndexes(),
    insert: async ({ slug, ...rest }) => {
      try {
        await model.create([{ _id: slug, ...rest }]);
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    slugs: async (pattern) => (await model.find({ _id: pattern }, { _id: 1 }).lean<{ _id: string }[]>().exec()).map((row) => row._id),
    visible: (slug, userId) => one(visible(slug, userId)),
    visibleHead: (slug, userId) => part(visible(slug, userId), { _id: 0, name: 1, revision: 1, createdBy: 1 }),
    visibleSchema: (slug, userId) => part(visible(slug, userId), SCHEMA),
    publicSchema: (slug) => part({ _id: slug, publicPlayground: true }, SCHEMA),
    owned: (slug, ownerId) => one({ _id: slug, createdBy: ownerId }),
    created: (creationId, ownerId) => one({ creationId, createdBy: ownerId }),
    ownSummaries: (ownerId) => summaries({ createdBy: ownerId }),
    othersTemplates: (userId) => summaries({ isTemplate: true, createdBy: { $ne: userId } }),
    replace: async ({ slug, createdBy, revision }, members) => {
      const { matchedCount } = await model.updateOne({ _id: slug, createdBy, revision }, { $set: members }).exec();
      return matchedCount === 1;
    },
    move: async (slug, ownerId, folderId, at) => {
      const row = await model
        .findOneAndUpdate(
          { _id: slug, createdBy: ownerId },
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
    remove: async (slug, ownerId) => (await model.deleteOne({ _id: slug, createdBy: ownerId }).exec()).deletedCount === 1,
    savedCreationIds: async (ownerId, limit) => {
      const found = await model
        .find({ createdBy: ownerId, isTemplate: false }, { creationId: 1 })
        .limit(limit)
        .lean<Pick<Row, "creationId">[]>()
        .exec();
      return found.map((row) => row.creationId);
    },
  };
};
