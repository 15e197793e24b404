/** Counts the runs of aliases with a canary, and ends canaries. */
import { CONFLICT_ATTEMPTS, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import type { Arm, CanaryOutcome } from "../definition/canary";
import type { CanaryDecision, CanaryResults, CanaryStore, EndedRun } from "./canary-store";
import { confidenceIn, observe, verdictOf } from "./evidence";

/** How long credits are reserved for a run that isn't stored yet. Longer than any start of a run. */
const RESERVED_MS = 300_000;
/** Runs that are counted together. */
const COUNTED = 100;
const PERCENT = 100;

/** A canary that a run has ended. */
export interface AnnouncedDecision {
  results: CanaryResults;
  decision: CanaryDecision;
}

export interface Canaries {
  /**
   * Reserves the most that a run can cost: for a while, or until its end if the run is stored. Repeating is safe.
   * @returns false if it could exceed the canary's limit, which ends the canary
   */
  reserve(canaryId: string, run: { holdId: string; millicredits: number; isStored: boolean }): Promise<boolean>;
  /** Returns the reservation of a run that didn't start. */
  release(canaryId: string, holdId: string): Promise<void>;
  /**
   * Counts a run once, however often it is reported, and ends the canary if its runs decide it.
   * @returns the decision, if this run made it and the owner didn't end the canary first
   */
  count(canaryId: string, run: EndedRun): Promise<AnnouncedDecision | undefined>;
}

export interface CanariesOptions {
  store: CanaryStore;
  /** Ends a canary on its alias. @returns false if the owner ended it first; true again for a repeated call */
  end(results: CanaryResults, outcome: CanaryOutcome): Promise<boolean>;
}

const armWith = (arm: Arm, { outcome, millicredits, durationMs }: EndedRun): Arm => {
  const isFailed = outcome === "failed";
  return {
    runs: arm.runs + 1,
    failed: arm.failed + Number(isFailed),
    millicredits: arm.millicredits + (isFailed ? 0 : millicredits),
    durationMs: arm.durationMs + (isFailed ? 0 : durationMs),
  };
};

type Counted = Pick<CanaryResults, "evidence" | "base" | "canary" | "decision">;

/** Adds a run, whose outcome is known. */
const withRun = ({ evidence, base, canary }: Counted, run: EndedRun, share: number): Counted => {
  const { isCanary, outcome, millicredits, durationMs } = run;
  return {
    evidence: observe(evidence, { isCanary, isFailed: outcome === "failed", millicredits, durationMs }, share),
    base: isCanary ? base : armWith(base, run),
    canary: isCanary ? armWith(canary, run) : canary,
  };
};

/** Adds runs to results, until one decides. The cost of later runs still counts. */
export const withRuns = (results: CanaryResults, runs: readonly EndedRun[]): Counted => {
  const { percent, minRuns, isExhausted } = results;
  let counted: Counted = results;
  for (const run of runs) {
    if (counted.decision) break;
    if (run.outcome) counted = withRun(counted, run, percent / PERCENT);
    const { evidence, base, canary } = counted;
    const exhausted = isExhausted
      ? ({ outcome: "rolled_back", reason: "max_credits", confidence: confidenceIn(evidence) } as const)
      : undefined;
    const verdict = verdictOf(evidence, canary.runs, minRuns) ?? exhausted;
    if (verdict)
      counted = { ...counted, decision: { reason: "", ...verdict, endedAt: new Date(), base, canary, executionId: run.executionId } };
  }
  return counted;
};

export const createCanaries = ({ store, end }: CanariesOptions): Canaries => {
  /** Counts pending runs. @returns undefined if another process did at the same time */
  const countOnce = async (canaryId: string): Promise<true | undefined> => {
    const results = await store.get(canaryId);
    if (!results) return true;
    // A process that counted these runs may have died before it marked them.
    await store.markCounted(canaryId, results.counted);
    const runs = await store.pending(canaryId, COUNTED);
    if (runs.length === 0) return true;
    const holdIds = new Set(runs.map(({ holdId }) => holdId));
    const released = results.reservations.filter(({ id }) => holdIds.has(id));
    const executionIds = runs.map(({ executionId }) => executionId);
    const { evidence, base, canary, decision } = withRuns(results, runs);
    const isCounted = await store.count(results, {
      ...{ evidence, base, canary, decision, executionIds },
      holdIds: released.map(({ id }) => id),
      spentMillicredits: runs.reduce((sum, { isCanary, millicredits }) => sum + (isCanary ? millicredits : 0), 0),
      releasedMillicredits: released.reduce((sum, { millicredits }) => sum + millicredits, 0),
    });
    if (!isCounted) return undefined;
    await store.markCounted(canaryId, executionIds);
    return true;
  };

  const countAll = async (canaryId: string, executionId: string): Promise<void> => {
    do {
      if (!(await retryOnConflict(CONFLICT_ATTEMPTS.publication, () => countOnce(canaryId))))
        throw unavailable("too many runs of the canary end at once", 1);
    } while (await store.isPending(canaryId, executionId));
  };

  return {
    reserve: async (canaryId, { holdId, millicredits, isStored }) => {
      if (isStored && (await store.keep(canaryId, holdId))) return true;
      const results = await store.get(canaryId);
      if (!results || results.decision || results.isExhausted) return false;
      if (results.maxMillicredits === undefined) return true;
      // Left by processes that stopped before they stored their runs.
      const expired = results.reservations.filter(({ until }) => until && until.getTime() < Date.now());
      for (const reservation of expired) await store.release(canaryId, reservation);
      const until = isStored ? {} : { until: new Date(Date.now() + RESERVED_MS) };
      if (await store.reserve(canaryId, { id: holdId, millicredits, ...until }, results.maxMillicredits)) return true;
      await store.noteExhausted(canaryId);
      return false;
    },
    release: async (canaryId, holdId) => {
      const reservation = (await store.get(canaryId))?.reservations.find(({ id }) => id === holdId);
      if (reservation) await store.release(canaryId, { id: holdId, millicredits: reservation.millicredits });
    },
    count: async (canaryId, run) => {
      const row = await store.get(canaryId);
      if (!row) return undefined;
      if (!row.expiresAt) {
        await store.addRun(row, run);
        await countAll(canaryId, run.executionId);
      }
      const results = row.expiresAt ? row : await store.get(canaryId);
      const decision = results?.decision;
      if (!results || decision?.executionId !== run.executionId) return undefined;
      const { executionId: _, ...outcome } = decision;
      const hasEnded = await end(results, outcome);
      await store.close(canaryId);
      return hasEnded ? { results, decision } : undefined;
    },
  };
};
