import { RETENTION } from "@nodeloom/kernel";
import type { Connection } from "mongoose";
import { createBatchStore } from "./batches";
import { callModel, createCallStore } from "./calls";
import { createDeliveryRecords } from "./deliveries";
import { createEarlierMailStore } from "./earlier-mails";
import { createEventLog } from "./event-log";
import { createLeavingStore } from "./leaving";
import { createQueueStore } from "./queues";
import { createModerationStore } from "./moderation";
import { createPayloadStore } from "./payloads";
import { createRows } from "./rows";
import { executionModel } from "./schema";
import { createSubmissionStore } from "./submissions";
import { createApprovalStore } from "./approvals";
import { createMovedTriggers } from "./moved-triggers";

/** The stores of executions, by name. */

export interface StoresOptions {
  /** How long executions are kept. */
  retentionDays?: number;
}

export type Stores = ReturnType<typeof createStores>;

/** The executions database, a store for each thing that it keeps. */
export const createStores = (connection: Connection, { retentionDays = RETENTION.executions.days }: StoresOptions = {}) => {
  const executions = executionModel(connection);
  const payloads = createPayloadStore(connection, retentionDays);
  const log = createEventLog(executions, payloads);
  const stores = {
    /** Runs. */
    rows: createRows(executions, callModel(connection), log),
    /** What happened to each run, in order. */
    log,
    /** What became of the calls of each run. */
    calls: createCallStore(connection),
    /** What was sent to providers that can't recognise a repetition. */
    submissions: createSubmissionStore(connection),
    /** Texts and Temporal's payloads that are too long for where they belong. */
    payloads,
    /** How far webhooks have come that 1.0.0 began to deliver. */
    deliveries: createDeliveryRecords(executions),
    /** What runs wait for, and how that was decided. */
    approvals: createApprovalStore(executions),
    /** Batches of runs, with their rows. */
    batches: createBatchStore(connection),
    /** Which of a user's runs have a place, and which wait for one. */
    queues: createQueueStore(connection),
    /** What the moderation hook decided. */
    moderation: createModerationStore(connection),
    /** Schedules and hooks of 1.0.0. */
    movedTriggers: createMovedTriggers(connection),
    /** Mails that 1.0.0 accepted. */
    earlierMails: createEarlierMailStore(connection),
  };
  /** What there is of one account: over the models that the others have declared. */
  return { ...stores, leaving: createLeavingStore(connection) };
};
