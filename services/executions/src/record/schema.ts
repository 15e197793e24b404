import { Schema, type Connection } from "mongoose";
import type { ExecutionRecord } from "../run/record";

/** A schema without casts and defaults: documents are exactly the code's types. */
export const documents = <T extends { _id: string }>(collection: string): Schema<T> =>
  new Schema<T>({ _id: String } as never, { collection, minimize: false, versionKey: false, strict: false });

export const executionSchema = documents<ExecutionRecord>("executions");
// Lists of one user (outside batches or in one) and of all users, newest first.
executionSchema.index({ userId: 1, batchId: 1, createdAt: -1, _id: -1 });
executionSchema.index({ createdAt: -1, _id: -1 });
// A workflow's runs may be few among many.
executionSchema.index({ userId: 1, workflowSlug: 1, createdAt: -1, _id: -1 });
executionSchema.index({ userId: 1, metadata: 1, createdAt: -1, _id: -1 });
executionSchema.index({ status: 1, seenRunningAt: 1 });
// Few runs owe anything at a time.
executionSchema.index({ unsettled: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { unsettled: true } });
// Few of a user's runs wait for a decision at a time.
executionSchema.index({ userId: 1, waiting: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { waiting: true } });
// Which runs name a graph that is shared, are reruns of a run, or name a file: asked when a run is erased.
executionSchema.index({ "graph.hash": 1 }, { sparse: true });
executionSchema.index({ "rerun.sources": 1 }, { sparse: true });
executionSchema.index({ uses: 1 }, { sparse: true });
executionSchema.index({ "remains.erasure": 1 }, { sparse: true });
// Runs with days of their own.
executionSchema.index({ eraseAt: 1, _id: 1 }, { partialFilterExpression: { eraseAt: { $exists: true } } });
executionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
// Few are pending at a time.
executionSchema.index({ "webhook.state": 1, finishedAt: 1 }, { partialFilterExpression: { "webhook.state": "pending" } });

export const executionModel = (connection: Connection) => connection.model("Execution", executionSchema);
export type ExecutionModel = ReturnType<typeof executionModel>;
