import { insertOnce } from "@nodeloom/platform";
import { Schema, type Connection } from "mongoose";
import { noEvidence, type Evidence, type ObservedRun } from "./evidence";
import type { Arm, Canary, CanaryOutcome, CanarySettings } from "../definition/canary";

export interface CanaryDecision extends CanaryOutcome {
  /** The run that decided it, whose message announces the end. */
  executionId: string;
}

/** Credits for a run that hasn't ended. */
export interface Reservation {
  id: string;
  millicredits: number;
  /** Time after which it expires; absent once the run is stored, whose end removes it. */
  until?: Date;
}

/** The results of a canary, and what is needed to end it. */
export interface CanaryResults extends CanarySettings {
  _id: string;
  creationId: string;
  slug: string;
  ownerId: string;
  alias: string;
  /** Version of the alias. */
  versionBefore: number;
  startedBy: string;
  /** Incremented with every count. */
  revision: number;
  evidence: Evidence;
  base: Arm;
  canary: Arm;
  /** Cost of all its runs that ended, and of those with reservations. */
  committedMillicredits: number;
  spentMillicredits: number;
  reservations: Reservation[];
  /** Set if another run could exceed `maxMillicredits`. */
  isExhausted?: true;
  /** Runs of the last count, which may not be marked as counted yet. */
  counted: string[];
  decision?: CanaryDecision;
  /** Time after which it is deleted; absent while it is under way. */
  expiresAt?: Date;
}

/** A run that ended; `outcome` is absent if only its cost counts. */
export interface EndedRun extends Pick<ObservedRun, "isCanary" | "millicredits" | "durationMs"> {
  executionId: string;
  holdId: string;
  outcome?: "completed" | "failed" | undefined;
}

interface RunRow extends EndedRun {
  _id: string;
  canaryId: string;
  creationId: string;
  at: Date;
  isPending?: true;
}

/** A count of pending runs, to apply to the results as they were read. */
export interface Count extends Pick<CanaryResults, "evidence" | "base" | "canary"> {
  executionIds: string[];
  /** Holds with reservations that end. */
  holdIds: string[];
  spentMillicredits: number;
  releasedMillicredits: number;
  decision?: CanaryDecision | undefined;
}

const DAY_S = 86_400;
/** How long ended canaries and counted runs are kept. A run that is reported again later belongs to no canary. */
const KEPT_DAYS = 90;
const MOST_RESERVATIONS = 1_000;

const canaries = new Schema<CanaryResults>({ _id: String }, { collection: "canaries", strict: false, versionKey: false, minimize: false });
canaries.index({ creationId: 1 });
canaries.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
const runs = new Schema<RunRow>({ _id: String }, { collection: "canary_runs", strict: false, versionKey: false, minimize: false });
runs.index({ canaryId: 1, isPending: 1 });
runs.index({ creationId: 1 });
runs.index({ at: 1 }, { expireAfterSeconds: KEPT_DAYS * DAY_S });

const rowId = (canaryId: string, executionId: string): string => `${canaryId}:${executionId}`;

const NO_RUNS: Arm = { runs: 0, failed: 0, millicredits: 0, durationMs: 0 };

export type NewCanary = Pick<CanaryResults, "creationId" | "slug" | "ownerId" | "alias" | "versionBefore"> & Canary;

const newResults = ({ id, startedAt: _, maxMillicredits, ...canary }: NewCanary): CanaryResults => ({
  ...canary,
  ...(maxMillicredits === undefined ? {} : { maxMillicredits }),
  ...{ _id: id, revision: 0, evidence: noEvidence(), base: NO_RUNS, canary: NO_RUNS },
  ...{ committedMillicredits: 0, spentMillicredits: 0, reservations: [], counted: [] },
});

export type CanaryStore = ReturnType<typeof createCanaryStore>;

/** Results of canaries, and the runs that they count. Every change is one conditional update. */
export const createCanaryStore = (connection: Connection) => {
  const model = connection.model<CanaryResults>("Canary", canaries).collection;
  const rows = connection.model<RunRow>("CanaryRun", runs).collection;
  const byId = (id: string): object => ({ _id: id });

  return {
    /** Repeating has no effect. */
    open: async (canary: NewCanary): Promise<void> => void (await insertOnce(model.insertOne(newResults(canary) as never))),
    get: async (id: string): Promise<CanaryResults | null> => (await model.findOne(byId(id))) as CanaryResults | null,

    /** Ends a canary, after which its results are kept for a while. */
    close: async (id: string): Promise<void> => {
      const expiresAt = new Date(Date.now() + KEPT_DAYS * DAY_S * 1_000);
      await model.updateOne({ ...byId(id), expiresAt: { $exists: false } }, { $set: { expiresAt } });
    },

    /** @returns false if the limit, or the number of reservations, would be exceeded; true again for a repeated call */
    reserve: async (id: string, reservation: Reservation, maxMillicredits: number): Promise<boolean> => {
      const { matchedCount } = await model.updateOne(
        {
          ...byId(id),
          "reservations.id": { $ne: reservation.id },
          [`reservations.${MOST_RESERVATIONS - 1}`]: { $exists: false },
          committedMillicredits: { $lte: maxMillicredits - reservation.millicredits },
        },
        { $push: { reservations: reservation }, $inc: { committedMillicredits: reservation.millicredits } } as never,
      );
      return matchedCount === 1 || (await model.findOne({ ...byId(id), "reservations.id": reservation.id })) !== null;
    },
    /** Keeps a reservation until its run ends. @returns false if it has expired */
    keep: async (id: string, holdId: string): Promise<boolean> => {
      const { matchedCount } = await model.updateOne(
        { ...byId(id), "reservations.id": holdId },
        { $unset: { "reservations.$.until": "" } },
      );
      return matchedCount === 1;
    },
    noteExhausted: async (id: string): Promise<void> => void (await model.updateOne(byId(id), { $set: { isExhausted: true } })),
    /** Removes a reservation, if it is as it was read. */
    release: async (id: string, reservation: Reservation): Promise<void> => {
      await model.updateOne({ ...byId(id), reservations: { $elemMatch: reservation } }, {
        $pull: { reservations: { id: reservation.id } },
        $inc: { committedMillicredits: -reservation.millicredits },
      } as never);
    },

    /** Adds a run that ended. Repeating has no effect. */
    addRun: async ({ _id: canaryId, creationId }: CanaryResults, run: EndedRun): Promise<void> => {
      const row = { ...run, _id: rowId(canaryId, run.executionId), canaryId, creationId, at: new Date(), isPending: true };
      await insertOnce(rows.insertOne(row as never));
    },
    isPending: async (canaryId: string, executionId: string): Promise<boolean> =>
      (await rows.findOne({ _id: rowId(canaryId, executionId), isPending: true } as object)) !== null,
    pending: async (canaryId: string, limit: number): Promise<EndedRun[]> =>
      (await rows.find({ canaryId, isPending: true }).sort({ _id: 1 }).limit(limit).toArray()) as never,
    markCounted: async (canaryId: string, executionIds: readonly string[]): Promise<void> => {
      const ids = executionIds.map((executionId) => rowId(canaryId, executionId));
      await rows.updateMany({ _id: { $in: ids } } as object, { $unset: { isPending: "" } });
    },
    /** Applies a count, if nothing was counted since the results were read. @returns false if something was */
    count: async ({ _id, revision }: CanaryResults, count: Count): Promise<boolean> => {
      const { evidence, base, canary, executionIds: counted, holdIds, spentMillicredits, releasedMillicredits, decision } = count;
      const { matchedCount } = await model.updateOne(
        { ...byId(_id), revision, ...(holdIds.length > 0 ? { "reservations.id": { $all: holdIds } } : {}) },
        {
          $set: { evidence, base, canary, counted, ...(decision ? { decision } : {}) },
          $inc: { revision: 1, spentMillicredits, committedMillicredits: spentMillicredits - releasedMillicredits },
          ...(holdIds.length > 0 ? { $pull: { reservations: { id: { $in: holdIds } } } } : {}),
        } as never,
      );
      return matchedCount === 1;
    },

    removeAll: async (creationId: string): Promise<void> => {
      await rows.deleteMany({ creationId });
      await model.deleteMany({ creationId });
    },
  };
};
