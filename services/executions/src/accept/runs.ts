/** Starts or joins runs for callers, then follows each run until there is an answer. */
import { DomainError, executionNotFound, REPLAYED_REFUSAL, unavailable } from "@nodeloom/kernel";
import { createSlots, NoSlot, type Slots } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { Execution } from "../lifecycle/execution";
import type { Outbox } from "../lifecycle/outbox";
import type { ExecutionView } from "../run/record";
import { hasReceivers } from "../run/delivery";
import { errorOf } from "../run/refusals";
import { isFinal } from "../run/states";
import { TIMING } from "../run/timing";
import type { Stores } from "../record/stores";
import type { AwaitDelivered, Follow, Following } from "../record/runs/channel";
import { busy, decided, UndecidedRun, type Start } from "./start";

/** Limits of one process: runs that it starts concurrently, and requests that can wait. Users take turns. */
export const STARTS = { concurrency: 6, queueLimit: 2_000 };
const START_WAIT_MS = 8_000;
/** Reserved from the caller's deadline for sending the answer. */
const ANSWER_RESERVE_MS = 1_000;

export interface RunsOptions {
  start: Start;
  follow: Follow;
  stores: Pick<Stores, "rows">;
  execution: Pick<Execution, "refuse">;
  outbox: Pick<Outbox, "deliverLater" | "deliverFirst">;
  awaitDelivered: AwaitDelivered;
  starts?: Slots;
}

export interface StartResult {
  row: ExecutionView;
  /** True if another request of the client started the run. */
  isReplay: boolean;
}

const { RUN_MODE_ASYNC, RUN_MODE_RESPOND_ASYNC } = executions.RunMode;
const isSync = (mode: executions.RunMode): boolean => mode !== RUN_MODE_ASYNC && mode !== RUN_MODE_RESPOND_ASYNC;

const refusedFor = (row: ExecutionView | null): DomainError => {
  if (!row) return unavailable("the run no longer exists: send the request again", 1);
  if (row.status === "erased") return executionNotFound();
  return row.refusal ? errorOf(row.refusal) : unavailable("the run was refused", 1);
};

/**
 * True if the row already answers its client. A synchronous client waits for the end. An asynchronous client waits for the first submission
 * or the end. Other clients wait until the run proceeds: an `accepted` run can still be refused.
 */
const isAnswer = (row: ExecutionView, mode: executions.RunMode): boolean => {
  if (row.status === "accepted") return false;
  // A run that waits for an approval can take days.
  if (isFinal(row) || mode === RUN_MODE_RESPOND_ASYNC || row.waiting) return true;
  return mode === RUN_MODE_ASYNC && (row.requestId !== null || row.status === "queued");
};

/** Error for a failed read or write after the run's row was written. The outcome of the run is unknown. */
const unknownOutcome = (): DomainError =>
  new DomainError("unavailable", "SERVICE_UNAVAILABLE", "the state of the run is unknown: it may be running", {
    retryAfter: 1,
    outcome: "unknown",
  });

/** Thrown if the row is refused and nothing runs. */
class RefusedRow {
  constructor(readonly error: DomainError) {}
}

/** True if another request of the client started the run. An erased row no longer has that information. */
const isReplayOf = (row: ExecutionView, { requestToken }: executions.RunRequest): boolean =>
  row.status === "erased" || (row.requestToken !== undefined && row.requestToken !== requestToken);

/** Marks a refusal that answered an earlier request of the client. The gateway sends the mark as a header. */
const asReplay = ({ kind, reason, message, metadata }: DomainError): DomainError =>
  new DomainError(kind, reason, message, { ...metadata, [REPLAYED_REFUSAL]: true });

export const createRuns = ({ start, follow, stores, execution, outbox, awaitDelivered, starts = createSlots(STARTS) }: RunsOptions) => {
  /** Starts a run in turn with other users' requests. Waits until its workflow has claimed it or it is refused. */
  const begin = async (request: executions.RunRequest, earlier: ExecutionView | null, following: Following, beginBy: number) => {
    try {
      return await starts.use(
        async () => {
          const row = await start.start(request, earlier, beginBy, following.listen);
          return row.status === "accepted" ? await decided(following.next(Date.now() + TIMING.claim)) : row;
        },
        { key: request.runner?.userId ?? "", maxWaitMs: START_WAIT_MS },
      );
    } catch (error) {
      throw error instanceof NoSlot ? busy() : error;
    }
  };

  /** Refuses an undecided run, so that its caller can get the answer that nothing runs. */
  const decide = async (row: ExecutionView): Promise<ExecutionView | null> => {
    const refusedRow = await execution.refuse(row, busy());
    if (refusedRow) void outbox.deliverLater(refusedRow);
    return refusedRow ?? stores.rows.find(row._id);
  };

  /**
   * Stores an answer that the row can't provide later: the 202 of a synchronous run, or the error of an asynchronous run.
   * @returns the row with the answer; if a synchronous run has ended meanwhile, the row of that end
   */
  const noteAnswer = async (row: ExecutionView, { mode, fingerprint }: executions.RunRequest): Promise<ExecutionView> => {
    if (row.answered !== undefined || (fingerprint === "" && !hasReceivers(row))) return row;
    if (isSync(mode) && !isFinal(row)) {
      const isAccepted = await stores.rows.noteAnswer(row._id, "accepted");
      if (isAccepted) return { ...row, answered: "accepted" };
      const endedRow = (await stores.rows.find(row._id)) ?? row;
      await awaitDelivered(endedRow);
      return endedRow;
    }
    if (fingerprint !== "" && !isSync(mode) && row.error?.code === "PROVIDER_SUBMIT_FAILED")
      await stores.rows.noteAnswer(row._id, "failure");
    return row;
  };

  return {
    /**
     * Starts a run, or joins the run with the same id, and waits according to its mode.
     * @param answerBy when the caller stops waiting, in milliseconds since the epoch
     * @throws DomainError with the reason if the run was refused. A run that fails later doesn't throw.
     */
    run: async (request: executions.RunRequest, answerBy = Number.POSITIVE_INFINITY): Promise<StartResult> => {
      const deadline = Date.now() + request.waitMs;
      const decideBy = Math.min(Math.max(deadline, Date.now() + TIMING.acceptance), answerBy - ANSWER_RESERVE_MS);
      const following = follow(request.executionId);
      // A new id has no row yet. `start` subscribes just before it inserts the row, and doesn't subscribe if the row is final at once.
      if (!request.isNew) following.listen();
      let isTouched = false;
      try {
        const earlier = await start.earlierRun(request);
        isTouched = earlier?.join === true;
        let row = earlier?.join ? earlier.row : await begin(request, earlier?.row ?? null, following, answerBy - ANSWER_RESERVE_MS);
        isTouched = true;
        const isReplay = row !== null && isReplayOf(row, request);
        if (isReplay && row?.answered === "accepted") return { row, isReplay };
        for (;;) {
          const now = Date.now();
          if (!row || row.status === "refused" || row.status === "erased")
            throw new RefusedRow(isReplay ? asReplay(refusedFor(row)) : refusedFor(row));
          if (isAnswer(row, request.mode) || (row.status !== "accepted" && now >= deadline)) {
            // A run that proceeds already has its usage row, so only final rows wait for it.
            await (isFinal(row) ? awaitDelivered(row) : outbox.deliverFirst(row));
            return { row: isReplay ? row : await noteAnswer(row, request), isReplay };
          }
          if (row.status === "accepted" && now >= decideBy) row = await decide(row);
          else row = await following.next(row.status === "accepted" ? decideBy : deadline);
        }
      } catch (error) {
        if (error instanceof RefusedRow) throw error.error;
        throw isTouched || error instanceof UndecidedRun ? unknownOutcome() : error;
      } finally {
        following.stop();
      }
    },
  };
};

export type Runs = ReturnType<typeof createRuns>;
