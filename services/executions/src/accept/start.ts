import {
  CONFLICT_ATTEMPTS,
  DomainError,
  executionNotFound,
  holdIdOf,
  isShortOfCredits,
  tooManyRuns,
  unavailable,
  waitsForDecision,
} from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { Workflows } from "../clients";
import type { RunStarter } from "../workflow/client";
import type { End } from "../lifecycle/end";
import type { Approvals } from "../lifecycle/approvals";
import type { Execution } from "../lifecycle/execution";
import type { Holds } from "../lifecycle/holds";
import type { Outbox } from "../lifecycle/outbox";
import type { Queue } from "../lifecycle/queue";
import type { PlannedRun, Planning } from "../plan/planning";
import { armOf } from "../plan/definitions";
import { withKeyMetadata, toRunInput, createRecordPart, type RecordPartOptions } from "./run-input";
import { mostOf } from "./quotes";
import type { PinnedOf } from "../plan/kept-graphs";
import type { Reruns } from "../reuse/reruns";
import { GraphRun } from "../run/graph-run";
import { QUEUE_LENGTH_FACTOR, type Place } from "../run/queue";
import { initialNodes } from "../run/nodes";
import { newRecord, type ExecutionRecord, type ExecutionView, type RunRecordPart } from "../run/record";
import type { OutboxEntry } from "../run/states";
import type { RunInput } from "../run/types";
import type { Stores } from "../record/stores";

/** A refusal for missing credits answers repeated requests with the same key for this long. */
const REMEMBERED_MS = 60_000;

/** Thrown if a row was written, but the run could neither be started nor refused. */
export class UndecidedRun extends Error {
  constructor(cause: unknown) {
    super("the run is undecided", { cause });
  }
}

export const busy = (): DomainError => unavailable("too many runs are being started", 2);

export const decided = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw new UndecidedRun(error);
  });

/** True if the refusal also answers repeated requests. Other refusals are evaluated again. */
const isRemembered = ({ refusal, refusedAt }: ExecutionView): boolean => {
  return isShortOfCredits(refusal?.reason ?? "") && Math.abs(Date.now() - (refusedAt?.getTime() ?? 0)) < REMEMBERED_MS;
};

/** Checks that a row belongs to the same user and request. @throws EXECUTION_NOT_FOUND, IDEMPOTENCY_KEY_REUSED */
const checkSame = (row: ExecutionView, { runner, fingerprint }: executions.RunRequest): void => {
  if (row.userId !== runner?.userId) throw executionNotFound();
  if (fingerprint !== "" && row.fingerprint !== undefined && row.fingerprint !== fingerprint) {
    throw new DomainError(
      "conflict",
      "IDEMPOTENCY_KEY_REUSED",
      "this Idempotency-Key was used with a different request body: use a new key",
    );
  }
};

const START_PAUSE_MS = 200;

/** After `unavailable` or an internal error, the call may have taken effect. */
const isKnown = ({ kind }: DomainError): boolean => kind !== "unavailable" && kind !== "internal";

export interface StartOptions extends Pick<RecordPartOptions, "keepGraph" | "own"> {
  planning: Pick<Planning, "plan">;
  reruns: Pick<Reruns, "planningOf">;
  pinnedOf: PinnedOf;
  workflows: Pick<Workflows, "reserveCanaryRun" | "releaseCanaryRun">;
  starter: Pick<RunStarter, "start">;
  stores: Pick<Stores, "rows" | "payloads">;
  execution: Pick<Execution, "refuse" | "queue">;
  holds: Pick<Holds, "hold">;
  queue: Pick<Queue, "enter">;
  approvals: Pick<Approvals, "admit">;
  end: Pick<End, "end">;
  outbox: Pick<Outbox, "deliverFirst" | "deliverLater">;
  /** Checks each run before anything is stored or held for it. @throws DomainError if the run can't start */
  checkRun?: ((request: executions.RunRequest, planned: PlannedRun) => Promise<void>) | undefined;
}

/**
 * Starts runs. The row is looked up first: a known run is joined and never planned again. A new run gets its row, then a hold, then a place
 * or a position in the queue, and finally its workflow.
 */
export const createStart = (options: StartOptions) => {
  const { planning, reruns, pinnedOf, workflows, starter, stores, execution, holds, queue, approvals, end, outbox, checkRun } = options;

  const recordPart = createRecordPart(options);

  /** The hold is released before the client gets the refusal, unless billing is unavailable. */
  const refuse = async (row: ExecutionView, error: DomainError, owedEntries?: readonly OutboxEntry[]): Promise<ExecutionView> => {
    const refusedRow = await execution.refuse(row, error, owedEntries);
    if (refusedRow && isKnown(error)) await outbox.deliverFirst(refusedRow);
    else if (refusedRow) void outbox.deliverLater(refusedRow);
    return refusedRow ?? (await stores.rows.find(row._id)) ?? row;
  };

  /** Inserts a run or its next attempt. @returns undefined if another request inserted it first */
  const write = async (record: ExecutionRecord, earlier: ExecutionView | null): Promise<ExecutionView | undefined> => {
    if (earlier) return (await stores.rows.retry(earlier, record)) ?? undefined;
    return (await stores.rows.insert(record)) ? record : undefined;
  };

  /**
   * Takes a run from `accepted` to a hold, a place and a workflow. Any failure ends in a refusal, unless the workflow has already claimed
   * the run.
   */
  const begin = async (row: ExecutionView, input: RunInput, planned: PlannedRun, noQueue: boolean): Promise<ExecutionView> => {
    let isHeld = false;
    try {
      // A reservation for a run without a row expires.
      if (!(await reserve(planned, input.holdId, true))) throw unavailable("the alias's canary has ended: retry", 1);
      const run: RunInput = { ...input, held: await holds.hold(input) };
      isHeld = true;
      if (run.plan.steps.some(({ type }) => waitsForDecision(type))) await approvals.admit(run);
      const place = await placeFor(run, noQueue);
      if (place === null) throw tooManyRuns(run.concurrency, noQueue ? undefined : run.concurrency * QUEUE_LENGTH_FACTOR);
      if (place > 0) return await wait(row, run, place);
      await startWorkflow(run);
      return row;
    } catch (error) {
      if (!(error instanceof DomainError)) throw new UndecidedRun(error);
      return decided(refuse(row, error, isKnown(error) && !isHeld && !row.canary?.isReserved ? [] : undefined));
    }
  };

  const placeFor = async ({ userId, holdId: id, concurrency: limit, plan }: RunInput, noQueue: boolean): Promise<Place> =>
    limit === 0 ? 0 : queue.enter(userId, { id, bytes: JSON.stringify(plan).length, limit, mayWait: !noQueue });

  const wait = async (row: ExecutionView, run: RunInput, place: number): Promise<ExecutionView> => {
    const queued = await execution.queue(row, run, place);
    if (queued) void outbox.deliverLater(queued);
    return queued ?? (await stores.rows.find(row._id)) ?? row;
  };

  /** The workflow of an earlier attempt may still be running. It ends when it finds that the row belongs to another attempt. */
  const startWorkflow = async (run: RunInput): Promise<void> => {
    const attempt = async () => ((await starter.start(run)) === "started" ? true : undefined);
    const isStarted = await retryOnConflict(CONFLICT_ATTEMPTS.workflowStart, attempt, () => START_PAUSE_MS);
    if (!isStarted) throw unavailable("an earlier attempt at this run is still ending: retry");
  };

  /** Ends a run whose plan has no calls. Such a run needs no hold, place or workflow. */
  const endAtOnce = async (input: RunInput, part: RunRecordPart, refusedRow: ExecutionView | null): Promise<ExecutionView> => {
    if (refusedRow && !(await stores.rows.forgetRefused(input.executionId, refusedRow.attempt)))
      throw unavailable("an earlier attempt at this run is still being closed: retry", 1);
    const endedRow = await end.end({ from: "plan", input, part }, new GraphRun(input.plan).end(undefined));
    const row = endedRow ?? (await stores.rows.find(input.executionId));
    if (!row) throw unavailable("the run couldn't be stored: retry", 1);
    return row;
  };

  const plan = async (request: executions.RunRequest, attempt: number): Promise<PlannedRun> => {
    const { target, runner, inputsJson, mode } = request;
    if (!runner) throw new DomainError("invalid", "INVALID_REQUEST", "a run needs a runner");
    const isAsync = mode === executions.RunMode.RUN_MODE_ASYNC;
    const { version = "", alias, until = "", schemaJson = "" } = target ?? {};
    const settings = { settingsJson: request.settingsJson, settingsApproved: request.batch !== undefined };
    const rerun = request.rerun && (await reruns.planningOf(request.rerun, { runner, inputsJson, version, alias, pins: true }));
    const pinned = request.batch && (await pinnedOf(request.batch.batchId));
    const part = { target: target?.target, version, alias, until, schemaJson, runner, inputsJson, isAsync, pinned };
    const planned = await planning.plan({ ...part, ...settings, ...rerun, armOf: armOf(request.executionId) });
    const isReserved = await reserve(planned, holdIdOf(request.executionId, attempt), false);
    return isReserved ? planned : planning.plan({ ...part, ...settings });
  };

  /** Reserves credits of a canary with a limit. @returns false if the run could exceed it */
  const reserve = async (planned: PlannedRun, holdId: string, isStored: boolean): Promise<boolean> => {
    const { canary } = planned;
    if (!canary?.isLimited || canary.arm === "base" || canary.isUnplanned) return true;
    return (await workflows.reserveCanaryRun({ canaryId: canary.id, holdId, millicredits: mostOf(planned), isStored })).reserved;
  };

  /** Returns the credits that a canary reserved for a run that gets no row. */
  const unreserve = async ({ canary }: PlannedRun, holdId: string): Promise<void> => {
    if (canary?.isLimited) await workflows.releaseCanaryRun({ canaryId: canary.id, holdId });
  };

  return {
    /** Returns the run with this id. `join` is true if the request joins it. @throws IDEMPOTENCY_KEY_REUSED */
    earlierRun: async (request: executions.RunRequest): Promise<{ row: ExecutionView; join: boolean } | null> => {
      const row = request.isNew ? null : await stores.rows.find(request.executionId);
      if (!row) return null;
      // An item refused for missing credits is evaluated again, because its batch was paused and then resumed.
      const join = row.status !== "refused" || (!request.batch && isRemembered(row));
      if (join) checkSame(row, request);
      return { row, join };
    },

    /**
     * Plans and starts a run, or the next attempt of a refused run.
     * @param beginBy deadline for the start
     * @param listen called before the first event of the run
     * @throws DomainError if the run can't be planned; nothing is stored in that case
     */
    start: async (
      request: executions.RunRequest,
      earlier: ExecutionView | null,
      beginBy: number,
      listen: () => void,
    ): Promise<ExecutionView> => {
      const metadata = withKeyMetadata(request.metadata, request.runner);
      const attempt = (earlier?.attempt ?? 0) + 1;
      const planned = await plan(request, attempt);
      const holdId = holdIdOf(request.executionId, attempt);
      try {
        await checkRun?.(request, planned);
        if (Date.now() >= beginBy) throw busy();
      } catch (error) {
        await unreserve(planned, holdId);
        throw error;
      }
      const input = toRunInput(request, request.runner!, planned, metadata, attempt);
      const part = await recordPart(request, planned, input);
      if (planned.plan.steps.length === 0) return decided(endAtOnce(input, part, earlier));
      listen();
      const record = newRecord(input, initialNodes(planned.plan), part);
      const row = await decided(write(record, earlier));
      if (row) return begin(row, input, planned, request.noQueue);
      const joined = await stores.rows.find(input.executionId);
      if (!joined) throw unavailable("the run couldn't be stored: retry", 1);
      if (joined.attempt !== attempt) await unreserve(planned, holdId);
      checkSame(joined, request);
      return joined;
    },
  };
};

export type Start = ReturnType<typeof createStart>;
