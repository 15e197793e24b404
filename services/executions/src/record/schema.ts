import { Schema, type Connection } from "mongoose";
import type { ExecutionRecord } from "../run/record";

/** A schema without casts and defaults: documents have exactly the types in the code. */
export const documents = <T extends { _id: string }>(collection: string): Schema<T> =>
  new Schema<T>({ _id: String } as never, { collection, minimize: false, versionKey: false, strict: false });

export const executionSchema = documents<ExecutionRecord>("executions");
// Lists runs of one user (outside batches or in one batch) and of all users, newest first.
executionSchema.index({ userId: 1, batchId: 1, createdAt: -1, _id: -1 });
executionSchema.index({ createdAt: -1, _id: -1 });
// A workflow may have only a few of a user's runs.
executionSchema.index({ userId: 1, workflowSlug: 1, createdAt: -1, _id: -1 });
executionSchema.index({ userId: 1, metadata: 1, createdAt: -1, _id: -1 });
executionSchema.index({ status: 1, seenRunningAt: 1 });
// Few runs have outbox entries at a time.
executionSchema.index({ unsettled: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { unsettled: true } });
// Few of a user's runs wait for a decision at a time.
executionSchema.index({ userId: 1, waiting: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { waiting: true } });
// Used by the erasure of a run to find other runs that share its graph, are its reruns, or use its files.
executionSchema.index({ "graph.hash": 1 }, { sparse: true });
executionSchema.index({ "rerun.sources": 1 }, { sparse: true });
executionSchema.index({ uses: 1 }, { sparse: true });
executionSchema.index({ "remains.erasure": 1 }, { sparse: true });
// Runs with their own retention.
executionSchema.index({ eraseAt: 1, _id: 1 }, { partialFilterExpression: { eraseAt: { $exists: true } } });
executionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
// Few webhooks are pending at a time.
executionSchema.index({ "webhook.state": 1, finishedAt: 1 }, { partialFilterExpression: { "webhook.state": "pending" } });

export const executionModel = (connection: Connection) => connection.model("Execution", executionSchema);
export type ExecutionModel = ReturnType<typeof executionModel>;
