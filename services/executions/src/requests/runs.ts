/** requests/: runs as callers ask for them: begun or joined, and followed until there is an answer. */
import { DomainError, REPLAYED_REFUSAL } from "@nodeloom/kernel";
import { createSlots, NoSlot, type Slots } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import { TIMING } from "../run/timing";
import type { ExecutionView } from "../run/record";
import type { Stores } from "../store/stores";
import { answer, type RunMode } from "../run/answer";
import type { Outbox } from "../lifecycle/outbox";
import type { AwaitDelivered } from "./delivered";
import type { Execution } from "../lifecycle/execution";
import type { Follow, Following } from "./follow";
import { busy, decided, Undecided } from "./run-request";
import type { Start } from "./start";
import { isFinal } from "../run/states";

/** Runs that one process takes on at once, and requests that may wait for that; users take turns. */
export const STARTS = { concurrency: 6, queueLimit: 2_000 };
/** Longest wait for a start. */
const START_WAIT_MS = 8_000;
/** What is kept of a caller's time for the answer itself. */
const ANSWER_RESERVE_MS = 1_000;

export interface RunsOptions {
  start: Start;
  follow: Follow;
  stores: Pick<Stores, "rows">;
  execution: Pick<Execution, "refuse">;
  outbox: Pick<Outbox, "deliverLater" | "deliverFirst">;
  awaitDelivered: AwaitDelivered;
  /** What bounds the runs that are begun at once. */
  starts?: Slots;
}

/** A run as its client is told of it. */
export interface Told {
  row: ExecutionView;
  /** It was begun by another request of the client. */
  isReplay: boolean;
}

const MODES: Readonly<Record<number, RunMode>> = {
  [executions.RunMode.RUN_MODE_ASYNC]: "async",
  [executions.RunMode.RUN_MODE_RESPOND_ASYNC]: "respond-async",
};

/** After a run was touched, what can't be read or written leaves open what becomes of it: that is told as it is. */
const unknownOutcome = (): DomainError =>
  new DomainError("unavailable", "SERVICE_UNAVAILABLE", "it is not known whether the run goes on", { retryAfter: 1, outcome: "unknown" });

/** A refusal that the row says: nothing runs. */
class Refused {
  constructor(readonly error: DomainError) {}
}

/** A refusal that another request of the client was told before: the gateway says so in a header. */
const asReplay = ({ kind, reason, message, metadata }: DomainError): DomainError =>
  new DomainError(kind, reason, message, { ...metadata, [REPLAYED_REFUSAL]: true });

/** Runs as their callers ask for them: begun or joined, then followed until there is an answer. */
export const createRuns = ({ start, follow, stores, execution, outbox, awaitDelivered, starts = createSlots(STARTS) }: RunsOptions) => {
  /** Begins a run in turn with other users' requests, until its workflow has claimed it or it is decided otherwise. */
  const begin = async (request: executions.RunRequest, earlier: ExecutionView | null, following: Following, beginBy: number) => {
    try {
      return await starts.use(
        async () => {
          const row = await start.start(request, earlier, beginBy, following.listen);
          return row.status === "accepted" ? await claimed(following) : row;
        },
        { key: request.runner?.userId ?? "", maxWaitMs: START_WAIT_MS },
      );
    } catch (error) {
      throw error instanceof NoSlot ? busy() : error;
    }
  };

  const claimed = (following: Following): Promise<ExecutionView | null> => decided(following.next(Date.now() + TIMING.claim));

  /** What can't be left undecided any longer is refused: its caller is about to be told that nothing runs. */
  const decide = async (row: ExecutionView): Promise<ExecutionView | null> => {
    const refused = await execution.refuse(row, busy());
    if (refused) outbox.deliverLater(refused);
    return refused ?? stores.rows.find(row._id);
  };

  /** Remembers what can't be read off the row later: the 202 of a synchronous run, and the error of an asynchronous one. */
  const remember = async (row: ExecutionView, mode: RunMode, request: executions.RunRequest): Promise<void> => {
    if (request.fingerprint === "" || row.told !== undefined) return;
    if (mode === "sync" && !isFinal(row)) await stores.rows.tell(row._id, "accepted");
    if (mode !== "sync" && row.error?.code === "PROVIDER_SUBMIT_FAILED") await stores.rows.tell(row._id, "failure");
  };

  return {
    /**
     * Starts a run, or joins the one with the same id, and waits as its mode says.
     * @param answerBy when the caller waits no more, in milliseconds since the epoch
     * @throws DomainError why the run was refused; a run that ends badly is no error here.
     */
    run: async (request: executions.RunRequest, answerBy = Number.POSITIVE_INFINITY): Promise<Told> => {
      const mode = MODES[request.mode] ?? "sync";
      const deadline = Date.now() + request.waitMs;
      const decideBy = Math.min(Math.max(deadline, Date.now() + TIMING.acceptance), answerBy - ANSWER_RESERVE_MS);
      const following = follow(request.executionId);
      // A new id has no row yet: `start` listens just before it inserts one, and not at all where that is final at once.
      if (!request.isNew) following.listen();
      let isTouched = false;
      try {
        const known = await start.known(request);
        isTouched = known?.join === true;
        let row = known?.join ? known.row : await begin(request, known?.row ?? null, following, answerBy - ANSWER_RESERVE_MS);
        isTouched = true;
        const isReplay = row !== null && row.requestToken !== undefined && row.requestToken !== request.requestToken;
        if (isReplay && row?.told === "accepted") return { row, isReplay };
        for (;;) {
          const now = Date.now();
          const said = answer(row, mode, now >= deadline);
          if (said.kind === "refusal") throw new Refused(isReplay ? asReplay(said.error) : said.error);
          if (said.kind === "reply") {
            // A run that is told to go on has its usage row.
            await (isFinal(said.row) ? awaitDelivered(said.row) : outbox.deliverFirst(said.row));
            if (!isReplay) await remember(said.row, mode, request);
            return { row: said.row, isReplay };
          }
          if (row?.status === "accepted" && now >= decideBy) row = await decide(row);
          else row = await following.next(row?.status === "accepted" ? decideBy : deadline);
        }
      } catch (error) {
        if (error instanceof Refused) throw error.error;
        throw isTouched || error instanceof Undecided ? unknownOutcome() : error;
      } finally {
        following.stop();
      }
    },
  };
};

export type Runs = ReturnType<typeof createRuns>;
