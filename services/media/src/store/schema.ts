import { Schema } from "mongoose";
import type { Making } from "./making";
import type { MediaObject, Thumbnail } from "./media-object";

export type Row = Omit<MediaObject, "id"> & { _id: string; removal?: string; removedAt?: Date };

const making = new Schema<Making>(
  {
    maker: { type: String, required: true },
    model: { type: String, default: "" },
    nodeId: { type: String, default: "" },
    executionId: { type: String, default: "" },
    parents: { type: [String], required: true },
    inputsJson: String,
  },
  { _id: false },
);
const thumbnail = new Schema<Thumbnail>(
  {
    blob: { type: String, required: true },
    bytes: { type: Number, required: true },
    sha256: { type: String, required: true },
    contentType: { type: String, required: true },
  },
  { _id: false },
);
export const rows = new Schema<Row>(
  {
    _id: String,
    key: { type: String, required: true },
    ownerId: { type: String, required: true },
    contentType: { type: String, required: true },
    bytes: { type: Number, required: true },
    sha256: { type: String, required: true },
    blob: { type: String, required: true },
    createdAt: { type: Date, required: true },
    renewedAt: Date,
    origin: { type: String, required: true },
    ...{ width: Number, height: Number, durationMs: Number },
    ...{ contentHash: String, sourceType: String, making },
    ...{ signed: { type: Boolean, default: undefined }, unsigned: String },
    thumbnails: { type: Map, of: thumbnail },
    countedBy: String,
    look: String,
    private: { type: Boolean, default: undefined },
    public: { type: Boolean, default: undefined },
    words: { type: [String], default: undefined },
    title: String,
    removal: String,
    removedAt: Date,
  },
  { collection: "objects", versionKey: false, minimize: false, strict: "throw" },
);
// HTTP reads find the object by its public key.
rows.index({ key: 1 }, { unique: true });
// For owners' lists, expiry and interrupted removals.
rows.index({ ownerId: 1, createdAt: -1, _id: -1 });
rows.index({ origin: 1, countedBy: 1, createdAt: 1, _id: 1 });
rows.index({ removedAt: 1 });
// Owners find files by the beginnings of words.
rows.index({ ownerId: 1, words: 1 });
