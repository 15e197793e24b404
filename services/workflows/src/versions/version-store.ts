import { insertOnce } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import type { VersionStore } from "../definition/storage";
import type { GeneratorUse, Version, VersionHead } from "../definition/workflow";

type Row = Version & { _id: string };

const text = { type: String, default: "" };
const generator = new Schema<GeneratorUse>({ nodeId: text, model: text, inputsJson: text, items: Number }, { _id: false });

const rows = new Schema<Row>(
  {
    _id: String,
    creationId: { type: String, required: true },
    version: { type: Number, required: true },
    note: text,
    reference: text,
    createdBy: { type: String, required: true },
    createdAt: { type: Date, required: true },
    revision: { type: Number, required: true },
    name: text,
    description: text,
    nodesJson: text,
    edgesJson: text,
    viewportJson: text,
    generators: { type: [generator] },
    fieldsJson: text,
    valuesJson: text,
    resultsJson: { type: String, default: undefined },
    graphDigest: text,
    mediaNames: { type: [String] },
    pinnedModels: { type: Schema.Types.Mixed },
    withoutRun: { type: Boolean, default: undefined },
    passedTests: { type: String, default: undefined },
  },
  { collection: "versions", versionKey: false, minimize: false, strict: "throw" },
);
rows.index({ creationId: 1, version: -1 });

const HEAD = { _id: 0, version: 1, note: 1, createdAt: 1, createdBy: 1, name: 1, description: 1, pinnedModels: 1 } as const;

const idOf = (creationId: string, version: number): string => `${creationId}:${version}`;

const toVersion = ({ _id: _, ...version }: Row): Version => version;

export const createVersionStore = (connection: Connection): VersionStore => {
  const model = connection.model<Row>("Version", rows);
  return {
    insert: async (version) => {
      return insertOnce(model.create([{ _id: idOf(version.creationId, version.version), ...version }]));
    },
    keepDraft: async (draft, others) => {
      const { creationId, version } = draft;
      await insertOnce(model.create([{ _id: idOf(creationId, version), ...draft }]));
      // The number of a draft is its negative revision, so earlier drafts have higher numbers.
      await model.deleteMany({ creationId, version: { $lt: 0, $gt: version, $nin: others } }).exec();
    },
    get: async (creationId, version) => {
      const row = await model
        .findOne({ _id: idOf(creationId, version) })
        .lean<Row>()
        .exec();
      return row ? toVersion(row) : undefined;
    },
    interfaceOf: async (creationId, version) => {
      const row = await model
        .findOne({ _id: idOf(creationId, version) }, { fieldsJson: 1, resultsJson: 1 })
        .lean<Pick<Row, "_id" | "fieldsJson" | "resultsJson">>()
        .exec();
      return row ? { fieldsJson: row.fieldsJson, ...(row.resultsJson === undefined ? {} : { resultsJson: row.resultsJson }) } : undefined;
    },
    identity: async (creationId, version) => {
      const row = await model
        .findOne({ _id: idOf(creationId, version) }, { revision: 1, pinnedModels: 1 })
        .lean<Row>()
        .exec();
      return row ? { revision: row.revision, pinnedModels: row.pinnedModels ?? {} } : undefined;
    },
    referenced: async (creationId, reference) => {
      const row = await model.findOne({ creationId, reference }).lean<Row>().exec();
      return row ? toVersion(row) : undefined;
    },
    list: (creationId, limit, before) =>
      model
        .find({ creationId, version: { $gt: 0, $lt: before } }, HEAD)
        .sort({ version: -1 })
        .limit(limit)
        .lean<VersionHead[]>()
        .exec(),
    notePassed: async (creationId, version, passedTests) => {
      await model.updateOne({ _id: idOf(creationId, version) }, { $set: { passedTests } }).exec();
    },
    removeAll: async (creationId) => {
      await model.deleteMany({ creationId }).exec();
    },
    naming: async (names) => {
      const documents = await model
        .find({ mediaNames: { $in: [...names] } }, { mediaNames: 1 })
        .lean<Pick<Row, "mediaNames">[]>()
        .exec();
      return documents.flatMap((row) => row.mediaNames);
    },
    fieldsOf: (ids) =>
      model
        .find({ _id: { $in: ids.map(({ creationId, version }) => idOf(creationId, version)) } }, { _id: 0, fieldsJson: 1, valuesJson: 1 })
        .lean<Pick<Row, "fieldsJson" | "valuesJson">[]>()
        .exec(),
  };
};
