import { RETENTION } from "@nodeloom/kernel";
import type { Connection } from "mongoose";
import { createBatchStore } from "./batches";
import { callModel, createCallStore, createCallStatisticsStore } from "./calls/calls";
import { createDecisionLinkStore, decisionLinkModel } from "./runs/decision-links";
import { createDeliveryRecords } from "./earlier/deliveries";
import { createEarlierMailStore } from "./earlier/earlier-mails";
import { createErasureStore } from "./erasure/erasures";
import { createEventLog } from "./runs/event-log";
import { createLeavingStore } from "./erasure/leaving";
import { createQueueStore } from "./queues";
import { createModerationStore } from "./moderation";
import { createPayloadStore } from "./payloads";
import { createRows } from "./runs/rows";
import { executionModel } from "./schema";
import { createSubmissionStore } from "./calls/submissions";
import { createTombstones } from "./erasure/tombstones";
import { createApprovalStore } from "./runs/approvals";
import { createMovedTriggers } from "./earlier/moved-triggers";

export interface StoresOptions {
  retentionDays?: number;
}

export type Stores = ReturnType<typeof createStores>;

export const createStores = (connection: Connection, { retentionDays = RETENTION.executions.days }: StoresOptions = {}) => {
  const executions = executionModel(connection);
  const payloads = createPayloadStore(connection, retentionDays);
  const log = createEventLog(executions, payloads);
  const stores = {
    rows: createRows(executions, { calls: callModel(connection), links: decisionLinkModel(connection) }, log),
    log,
    calls: createCallStore(connection),
    callStatistics: createCallStatisticsStore(connection),
    submissions: createSubmissionStore(connection),
    payloads,
    deliveries: createDeliveryRecords(executions),
    approvals: createApprovalStore(executions),
    decisionLinks: createDecisionLinkStore(connection),
    batches: createBatchStore(connection),
    queues: createQueueStore(connection),
    moderation: createModerationStore(connection),
    /** Schedules and hooks of version 1.0.0. */
    movedTriggers: createMovedTriggers(connection),
    /** Mails that version 1.0.0 accepted. */
    earlierMails: createEarlierMailStore(connection),
  };
  /** Uses collections that the other stores have declared. */
  return {
    ...stores,
    leaving: createLeavingStore(connection),
    tombstones: createTombstones(connection),
    erasures: createErasureStore(connection),
  };
};
