/** Has Temporal carry the schedules that there are, and no others, whatever became of it or of the database. */
import type { Logger } from "@nodeloom/platform";
import type { ScheduleCarrier, ScheduleName } from "../carry/schedules";
import { carriedOf } from "../requests/triggers/carried";
import type { Stores } from "../store/stores";
import type { ScheduleRecord } from "../store/triggers/schedule-store";
import { checkEach, LOOK_PAGE, type Looked } from "../store/look";

export interface ScheduleReconcilerOptions {
  stores: Pick<Stores, "schedules">;
  carrier: ScheduleCarrier;
  logger: Logger;
}

/**
 * Compares the rows of schedules with what Temporal carries. Temporal is read first: a row is there before its schedule, so that
 * one that Temporal has without a row is none any more.
 */
export const createScheduleReconciler =
  ({ stores, carrier, logger }: ScheduleReconcilerOptions) =>
  async (beat: () => void): Promise<Looked> => {
    const carried = new Map<string, ScheduleName>();
    for await (const name of carrier.names()) {
      carried.set(carrier.nameOf(name), name);
      beat();
    }
    const looked: Looked = { seen: 0, changed: 0, failed: 0 };
    const failed = ({ id }: { id: string }, err: unknown): void =>
      logger.error({ err, scheduleId: id }, "a schedule could not be put right");
    for (let rows: ScheduleRecord[] = [], isLast = false; !isLast; isLast = rows.length < LOOK_PAGE) {
      rows = await stores.schedules.active(rows.at(-1)?._id ?? "", LOOK_PAGE);
      const missing = {
        check: async (row: ScheduleRecord): Promise<boolean> => {
          const schedule = carriedOf(row);
          if (carried.delete(carrier.nameOf(schedule))) return false;
          await carrier.begin(schedule);
          return true;
        },
        failed: ({ _id: id }: ScheduleRecord, error: unknown) => failed({ id }, error),
      };
      await checkEach(rows, { ...missing, beat }, looked);
    }
    const needless = { check: (name: ScheduleName) => carrier.end(name).then(() => true), failed };
    return checkEach([...carried.values()], { ...needless, beat }, looked);
  };
