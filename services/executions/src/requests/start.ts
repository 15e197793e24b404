import { CONFLICT_ATTEMPTS, DomainError, tooManyRuns, unavailable } from "@nodeloom/kernel";
import { retryOnConflict } from "@nodeloom/platform";
import { executions } from "@nodeloom/proto";
import type { RunInput } from "../run/types";
import type { PlannedRun, Planning } from "../plan/planning";
import { metadataKeys, type ExecutionRecord, type ExecutionView } from "../run/record";
import type { Stores } from "../store/stores";
import type { RunStarter } from "../carry/client";
import { endOf } from "../run/graph-end";
import { GraphRun, initialNodes } from "../run/graph-run";
import type { End } from "../lifecycle/end";
import type { Outbox } from "../lifecycle/outbox";
import { type Execution } from "../lifecycle/execution";
import { newRecord, type RunRecordPart } from "../run/new-record";
import type { Holds } from "../lifecycle/holds";
import type { Queue } from "../lifecycle/queue";
import { LINE_LENGTH_FACTOR, type Place } from "../run/line";
import { busy, checkSame, decided, isRemembered, toRunInput, Undecided } from "./run-request";
import type { OutboxEntry } from "../run/states";

const START_PAUSE_MS = 200;

/** Of what could not be asked it is not known whether it happened. */
const isKnown = ({ kind }: DomainError): boolean => kind !== "unavailable" && kind !== "internal";

export interface StartOptions {
  planning: Pick<Planning, "plan">;
  starter: Pick<RunStarter, "start">;
  stores: Pick<Stores, "rows" | "payloads">;
  execution: Pick<Execution, "refuse" | "queue">;
  holds: Pick<Holds, "hold">;
  queue: Pick<Queue, "enter">;
  end: Pick<End, "end">;
  outbox: Pick<Outbox, "deliverFirst" | "deliverLater">;
}

/**
 * Starts runs. The row is looked up first: a run that is known is joined, and never planned again. A run begins with its
 * row; then its credits are held, it gets a place or waits for one, and its workflow is started.
 */
export const createStart = (options: StartOptions) => {
  const { planning, starter, stores, execution, holds, queue, end, outbox } = options;

  /** Who is told of a refusal finds their credits free already, unless a service is away. */
  const refuse = async (row: ExecutionView, error: DomainError, left?: readonly OutboxEntry[]): Promise<ExecutionView> => {
    const refused = await execution.refuse(row, error, left);
    if (refused && isKnown(error)) await outbox.deliverFirst(refused);
    else if (refused) outbox.deliverLater(refused);
    return refused ?? (await stores.rows.find(row._id)) ?? row;
  };

  /** Inserts a run, or begins the next attempt at it. @returns undefined when another request was faster */
  const write = async (record: ExecutionRecord, earlier: ExecutionView | null): Promise<ExecutionView | undefined> => {
    if (earlier) return (await stores.rows.retry(earlier, record)) ?? undefined;
    return (await stores.rows.insert(record)) ? record : undefined;
  };

  /** From `accepted` to a hold, a place, and a workflow. Whatever fails on the way ends in a refusal, unless the workflow was faster. */
  const begin = async (row: ExecutionView, input: RunInput, noQueue: boolean): Promise<ExecutionView> => {
    let isHeld = false;
    try {
      const run: RunInput = { ...input, held: await holds.hold(input) };
      isHeld = true;
      const place = await placeFor(run, noQueue);
      if (place === null) throw tooManyRuns(run.concurrency, noQueue ? undefined : run.concurrency * LINE_LENGTH_FACTOR);
      if (place > 0) return await wait(row, run, place);
      await startWorkflow(run);
      return row;
    } catch (error) {
      if (!(error instanceof DomainError)) throw new Undecided(error);
      return decided(refuse(row, error, isKnown(error) && !isHeld ? [] : undefined));
    }
  };

  const placeFor = async ({ userId, holdId: id, concurrency: limit, plan }: RunInput, noQueue: boolean): Promise<Place> =>
    limit === 0 ? 0 : queue.enter(userId, { id, bytes: JSON.stringify(plan).length, limit, mayWait: !noQueue });

  const wait = async (row: ExecutionView, run: RunInput, place: number): Promise<ExecutionView> => {
    const queued = await execution.queue(row, run, place);
    if (queued) outbox.deliverLater(queued);
    return queued ?? (await stores.rows.find(row._id)) ?? row;
  };

  /** An earlier attempt's workflow may be running still; it ends as soon as it finds that the row is not its own. */
  const startWorkflow = async (run: RunInput): Promise<void> => {
    const attempt = async () => ((await starter.start(run)) === "started" ? true : undefined);
    const isStarted = await retryOnConflict(CONFLICT_ATTEMPTS.workflowStart, attempt, () => START_PAUSE_MS);
    if (!isStarted) throw unavailable("an earlier attempt at this run is still ending");
  };

  /** Planning has left nothing to call: the run is over when it begins, and has no hold, no place in line and no workflow. */
  const endAtOnce = async (input: RunInput, part: RunRecordPart, refused: ExecutionView | null): Promise<ExecutionView> => {
    if (refused && !(await stores.rows.forgetRefused(input.executionId, refused.attempt)))
      throw unavailable("the run is still being refused", 1);
    const ended = await end.end({ from: "plan", input, part }, endOf(new GraphRun(input.plan), undefined));
    const row = ended ?? (await stores.rows.find(input.executionId));
    if (!row) throw unavailable("the run could not be recorded", 1);
    return row;
  };

  const plan = async (request: executions.RunRequest): Promise<PlannedRun> => {
    const { target, runner, inputsJson, mode } = request;
    if (!runner) throw new DomainError("invalid", "INVALID_REQUEST", "a run needs a runner");
    const isAsync = mode === executions.RunMode.RUN_MODE_ASYNC;
    const { version = "", until = "" } = target ?? {};
    return planning.plan({ target: target?.target, version, until, runner, inputsJson, isAsync });
  };

  return {
    /** The run under this id, if it is one to be joined. @throws IDEMPOTENCY_KEY_REUSED */
    known: async (request: executions.RunRequest): Promise<{ row: ExecutionView; join: boolean } | null> => {
      const row = request.isNew ? null : await stores.rows.find(request.executionId);
      if (!row) return null;
      const join = row.status !== "refused" || isRemembered(row);
      if (join) checkSame(row, request);
      return { row, join };
    },

    /**
     * Plans and begins a run, or the next attempt at a refused one.
     * @param beginBy when it is too late to begin
     * @param listen called before there is anything to hear of the run
     * @throws DomainError why the run can't be planned; it leaves no trace then
     */
    start: async (
      request: executions.RunRequest,
      earlier: ExecutionView | null,
      beginBy: number,
      listen: () => void,
    ): Promise<ExecutionView> => {
      const planned = await plan(request);
      // Its caller is about to be told that nothing runs.
      if (Date.now() >= beginBy) throw busy();
      const input = toRunInput(request, request.runner!, planned, (earlier?.attempt ?? 0) + 1);
      const part: RunRecordPart = {
        requestToken: request.requestToken,
        inputs: await stores.payloads.putText(planned.inputsJson || "{}"),
        ...(request.fingerprint === "" ? {} : { fingerprint: request.fingerprint }),
        ...(Object.keys(request.metadata).length > 0 ? { metadata: metadataKeys(request.metadata) } : {}),
      };
      if (planned.plan.steps.length === 0) return decided(endAtOnce(input, part, earlier));
      listen();
      const record = newRecord(input, initialNodes(planned.plan), part);
      const row = await decided(write(record, earlier));
      if (row) return begin(row, input, request.noQueue);
      // Another request with this id was faster.
      const joined = await stores.rows.find(input.executionId);
      if (!joined) throw unavailable("the run could not be recorded", 1);
      checkSame(joined, request);
      return joined;
    },
  };
};

export type Start = ReturnType<typeof createStart>;
