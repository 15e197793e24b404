import { insertOnce } from "@nodeloom/platform";
import type { Connection } from "mongoose";
import type { ScheduledStart } from "../activity-types";
import type { RunWebhook } from "../owners";
import { documents, type TakenPlace } from "../schema";

/** A schedule. Temporal's schedule is created from this row and can be recreated. */
export interface ScheduleRecord {
  _id: string;
  userId: string;
  /** Slot among the owner's schedules. It is unique for the owner, which limits the number of schedules. */
  slot: number;
  workflowSlug: string;
  /** Alias that its runs use; absent or empty for `production`. */
  alias?: string;
  /** Webhook of its runs; null or absent to use the key's webhook. */
  webhook?: RunWebhook | null;
  /** Key that created it; null for a session. */
  keyId: string | null;
  /** Person who created it or last changed its target; absent in older rows. */
  personId?: string;
  /** Time at which that person created or changed it. */
  grantedAt?: Date;
  cron: string;
  timezone: string;
  inputsJson: string;
  maxMillicredits: number | null;
  paused: boolean;
  /** Reason for an automatic stop: an API error code and its message. */
  stopped: { code: string; message: string; at: Date } | null;
  /** Increases with every change of its times. The name of Temporal's schedule contains it. */
  revision: number;
  /** Time of the last change of its times. */
  timedAt: Date;
  /** Number of consecutive times that were rejected for lack of credits. */
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

/** True if Temporal must have a schedule for the row. */
export const isActive = ({ paused, stopped }: Pick<ScheduleRecord, "paused" | "stopped">): boolean => !paused && stopped === null;

export type ScheduleStore = ReturnType<typeof createScheduleStore>;

export const createScheduleStore = (connection: Connection) => {
  const schedules = connection.model("Schedule", scheduleSchema);
  const appended = (time: ScheduledTime): object => ({ history: { $each: [time], $slice: -HISTORY_KEPT } });
  return {
    /** Returns the slots that an owner's schedules occupy, with their workflows. */
    usedPlaces: (userId: string): Promise<TakenPlace[]> =>
      schedules.find({ userId }, { slot: 1, workflowSlug: 1 }).lean<TakenPlace[]>().exec(),

    /** @returns false if the slot was taken in the meantime */
    insert: (record: ScheduleRecord): Promise<boolean> => insertOnce(schedules.collection.insertOne(record as never)),

    find: (id: string): Promise<ScheduleRecord | null> => schedules.findOne({ _id: id, arriving: null }).lean<ScheduleRecord>().exec(),

    findOwned: (userId: string, workflowSlug: string, id: string): Promise<ScheduleRecord | null> =>
      schedules.findOne({ _id: id, userId, workflowSlug }).lean<ScheduleRecord>().exec(),

    /** Lists schedules, oldest first. @param workflowSlug undefined for schedules of all workflows */
    list: (userId: string, workflowSlug: string | undefined): Promise<ScheduleRecord[]> =>
      schedules
        .find({ userId, ...(workflowSlug === undefined ? {} : { workflowSlug }) })
        .sort({ createdAt: 1, _id: 1 })
        .lean<ScheduleRecord[]>()
        .exec(),

    /** Returns schedules that Temporal must have, after the given id, ordered by id. */
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
      await schedules.updateOne({ _id: id, "history.at": { $ne: time.at } }, { $set: state, $push: appended(time) }).exec();
    },

    /** Stops a schedule automatically, unless it changed in the meantime. Records the outcome of its last time with the reason. */
    stop: async (
      { _id, revision }: ScheduleRecord,
      time: ScheduledTime,
      stopped: NonNullable<ScheduleRecord["stopped"]>,
    ): Promise<void> => {
      await schedules
        .updateOne({ _id, revision, ...ACTIVE }, { $set: { stopped, timedAt: stopped.at }, $inc: { revision: 1 }, $push: appended(time) })
        .exec();
    },

    /** @returns the removed row */
    remove: (userId: string, workflowSlug: string, id: string): Promise<ScheduleRecord | null> =>
      schedules.findOneAndDelete({ _id: id, userId, workflowSlug }).lean<ScheduleRecord>().exec(),
  };
};
