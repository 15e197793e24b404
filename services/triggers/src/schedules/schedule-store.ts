import { insertOnce } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import type { ScheduledStart } from "../activity-types";
import type { RunWebhook } from "../owners";
import { documents, type TakenPlace } from "../schema";

/** A schedule. Temporal's schedule is created from this row and can be recreated. */
export interface ScheduleRecord {
  _id: string;
  userId: string;
  /** Slot among the owner's schedules. It is unique by owner, which bounds their number. */
  slot: number;
  workflowSlug: string;
  /** Alias for its runs; absent or empty for `production`. */
  alias?: string;
  /** Webhook of its runs; null or absent for the key's. */
  webhook?: RunWebhook | null;
  /** The key that created it; null for a session. */
  keyId: string | null;
  /** Person who created it or last changed its target. Missing on older rows. */
  personId?: string;
  /** Time of that. */
  grantedAt?: Date;
  cron: string;
  timezone: string;
  inputsJson: string;
  maxMillicredits: number | null;
  paused: boolean;
  /** Reason for an automatic stop: an API error code and its message. */
  stopped: { code: string; message: string; at: Date } | null;
  /** Incremented with every change of its times. Temporal's schedule is named after it. */
  revision: number;
  /** Last change of its times. */
  timedAt: Date;
  /** Consecutive times rejected for lack of credits. */
  unpaid: number;
  lastExecutionId: string | null;
  /** Recent times and their outcomes, oldest first. */
  history: ScheduledTime[];
  createdAt: Date;
  updatedAt: Date;
}

export interface ScheduledTime extends ScheduledStart {
  at: Date;
  message: string | null;
}

const HISTORY_KEPT = 20;

export type ScheduleChange = Partial<
  Pick<
    ScheduleRecord,
    | "keyId"
    | "personId"
    | "grantedAt"
    | "alias"
    | "webhook"
    | "cron"
    | "timezone"
    | "inputsJson"
    | "maxMillicredits"
    | "paused"
    | "stopped"
    | "unpaid"
    | "timedAt"
  >
>;

const scheduleSchema = documents<ScheduleRecord>("schedules");
scheduleSchema.index({ userId: 1, slot: 1 }, { unique: true });

/** Filter for rows that need a schedule in Temporal. */
const ACTIVE = { paused: false, stopped: null };

/** True if the schedule needs one in Temporal. */
export const isActive = ({ paused, stopped }: Pick<ScheduleRecord, "paused" | "stopped">): boolean => !paused && stopped === null;

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export const createScheduleStore = (connection: Connection) => {
  const schedules = connection.model("Schedule", scheduleSchema);
  const kept = (time: ScheduledTime): object => ({ history: { $each: [time], $slice: -HISTORY_KEPT } });
  return {
    /** Slots that an owner's schedules occupy, with their workflows. */
    taken: (userId: string): Promise<TakenPlace[]> => schedules.find({ userId }, { slot: 1, workflowSlug: 1 }).lean<TakenPlace[]>().exec(),

    /** @returns false if the slot was taken since */
    insert: (record: ScheduleRecord): Promise<boolean> => insertOnce(schedules.collection.insertOne(record as never)),

    find: (id: string): Promise<ScheduleRecord | null> => schedules.findOne({ _id: id, arriving: null }).lean<ScheduleRecord>().exec(),

    findOwned: (userId: string, workflowSlug: string, id: string): Promise<ScheduleRecord | null> =>
      schedules.findOne({ _id: id, userId, workflowSlug }).lean<ScheduleRecord>().exec(),

    /** Oldest first. @param workflowSlug undefined: of all workflows */
    list: (userId: string, workflowSlug: string | undefined): Promise<ScheduleRecord[]> =>
      schedules
        .find({ userId, ...(workflowSlug === undefined ? {} : { workflowSlug }) })
        .sort({ createdAt: 1, _id: 1 })
        .lean<ScheduleRecord[]>()
        .exec(),

    /** Schedules that Temporal must have, by ID, after a given one. */
    active: (after: string, limit: number): Promise<ScheduleRecord[]> =>
      schedules
        .find({ ...ACTIVE, _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(limit)
        .lean<ScheduleRecord[]>()
        .exec(),

    /**
     * Changes a schedule if it is unchanged since it was read.
     * @returns null if it was changed or deleted
     */
    change: ({ _id, revision, updatedAt }: ScheduleRecord, change: ScheduleChange): Promise<ScheduleRecord | null> =>
      schedules
        .findOneAndUpdate(
          { _id, revision, updatedAt },
          {
            $set: { ...change, updatedAt: new Date() },
            ...(change.timedAt === undefined ? {} : { $inc: { revision: 1 } }),
          },
          { returnDocument: "after" },
        )
        .lean<ScheduleRecord>()
        .exec(),

    /** Records the outcome of a time once. */
    note: async (id: string, time: ScheduledTime, state: Pick<ScheduleRecord, "unpaid" | "lastExecutionId">): Promise<void> => {
      await schedules.updateOne({ _id: id, "history.at": { $ne: time.at } }, { $set: state, $push: kept(time) }).exec();
    },

    /** Stops a schedule automatically unless it changed since. Records the outcome of its last time with the reason. */
    stop: async (
      { _id, revision }: ScheduleRecord,
      time: ScheduledTime,
      stopped: NonNullable<ScheduleRecord["stopped"]>,
    ): Promise<void> => {
      await schedules
        .updateOne({ _id, revision, ...ACTIVE }, { $set: { stopped, timedAt: stopped.at }, $inc: { revision: 1 }, $push: kept(time) })
        .exec();
    },

    /** @returns the removed row */
    remove: (userId: string, workflowSlug: string, id: string): Promise<ScheduleRecord | null> =>
      schedules.findOneAndDelete({ _id: id, userId, workflowSlug }).lean<ScheduleRecord>().exec(),
  };
};
