import { Schema, type Connection } from "mongoose";
import type { ExecutionRecord } from "../run/record";

/** A collection whose documents are what the code's types say: nothing is cast, and nothing is added. */
export const documents = <T extends { _id: string }>(collection: string): Schema<T> =>
  new Schema<T>({ _id: String } as never, { collection, minimize: false, versionKey: false, strict: false });

export const executionSchema = documents<ExecutionRecord>("executions");
// One user's executions, those of no batch or of one, and everyone's, newest first.
executionSchema.index({ userId: 1, batchId: 1, createdAt: -1, _id: -1 });
executionSchema.index({ createdAt: -1, _id: -1 });
// Those of a workflow, which may be few among many.
executionSchema.index({ userId: 1, workflowSlug: 1, createdAt: -1, _id: -1 });
executionSchema.index({ userId: 1, metadata: 1, createdAt: -1, _id: -1 });
executionSchema.index({ status: 1, seenRunningAt: 1 });
// Few owe anything at a time.
executionSchema.index({ unsettled: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { unsettled: true } });
// Few of a user's wait for a decision at a time.
executionSchema.index({ userId: 1, waiting: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { waiting: true } });
executionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
// Few are pending at a time.
executionSchema.index({ "webhook.state": 1, finishedAt: 1 }, { partialFilterExpression: { "webhook.state": "pending" } });

export const executionModel = (connection: Connection) => connection.model("Execution", executionSchema);
export type ExecutionModel = ReturnType<typeof executionModel>;
