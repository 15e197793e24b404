import { Schema, type Connection } from "mongoose";
import type { ExecutionRecord } from "./execution-record";

export const executionSchema = new Schema<ExecutionRecord>(
  {
    _id: String,
    userId: String,
    workflowSlug: String,
    version: Number,
    modelIds: [String],
    source: String,
    keyId: String,
    holdId: String,
    markupPermille: Number,
    mode: String,
    status: String,
    ending: String,
    requestId: String,
    resultJson: String,
    error: Schema.Types.Mixed,
    webhook: Schema.Types.Mixed,
    nodes: { type: [Schema.Types.Mixed], default: undefined } as never,
    events: { type: [Schema.Types.Mixed], default: undefined } as never,
    millicredits: Number,
    grantUsed: Boolean,
    createdAt: Date,
    finishedAt: Date,
    durationMs: Number,
    seenRunningAt: Date,
  },
  { collection: "executions", minimize: false, versionKey: false, strict: false },
);
// One user's executions, and everyone's, newest first.
executionSchema.index({ userId: 1, createdAt: -1, _id: -1 });
executionSchema.index({ createdAt: -1, _id: -1 });
// Those of a workflow, which may be few among many.
executionSchema.index({ userId: 1, workflowSlug: 1, createdAt: -1, _id: -1 });
executionSchema.index({ userId: 1, metadata: 1, createdAt: -1, _id: -1 });
executionSchema.index({ status: 1, seenRunningAt: 1 });
// Few owe anything at a time.
executionSchema.index({ owes: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { owes: true } });
executionSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
// Few are pending at a time.
executionSchema.index({ "webhook.state": 1, finishedAt: 1 }, { partialFilterExpression: { "webhook.state": "pending" } });

export const executionModel = (connection: Connection) => connection.model("Execution", executionSchema);
export type ExecutionModel = ReturnType<typeof executionModel>;
