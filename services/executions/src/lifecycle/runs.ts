import { randomUUID } from "node:crypto";
import { DomainError, unavailable } from "@nodeloom/kernel";
import { executions } from "@nodeloom/proto";
import type { EventChannel } from "../record/events";
import type { Execution } from "./execution";
import type { Planning, PlannedRun } from "../plan/planning";
import type { Refusal, RunInput } from "../contract/run-types";
import { createSlots, NoSlot, type Slots } from "./slots";
import { isFinal, type ExecutionStore, type ExecutionView } from "../record/store";
import type { RunStarter } from "../temporal/client";
import { TIMING } from "../contract/timing";

/** Runs that one process takes on at once, and requests that may wait for that; users take turns. */
export const STARTS = { slots: 6, places: 2_000 };
/** Longest wait for a start. */
const START_WAIT_MS = 8_000;
/** What is kept of a caller's time for the answer itself. */
const ANSWER_RESERVE_MS = 1_000;

export interface RunsOptions {
  planning: Planning;
  /** What bounds the runs that are begun at once. */
  starts?: Slots;
  starter: RunStarter;
  store: ExecutionStore;
  channel: EventChannel;
  execution: Pick<Execution, "requestCancel" | "announceCancel">;
}

const toRunInput = (request: executions.RunRequest, runner: executions.Runner, planned: PlannedRun, receivedAt: number): RunInput => {
  const isAsync = request.mode === executions.RunMode.RUN_MODE_ASYNC;
  return {
    executionId: request.executionId,
    userId: runner.userId,
    mode: isAsync ? "async" : "sync",
    workflowSlug: planned.workflowSlug,
    source: runner.source,
    keyId: runner.keyId || null,
    webhook: isAsync && runner.webhookUrl ? { url: runner.webhookUrl, events: runner.webhookEvents } : null,
    concurrency: runner.concurrency,
    plan: planned.plan,
    modelIds: planned.modelIds,
    holds: planned.holds,
    maxMillicredits: request.maxMillicredits,
    holdId: request.executionId,
    receivedAt,
  };
};

const refused = ({ kind, reason, message, metadata }: Refusal): DomainError =>
  new DomainError(kind as DomainError["kind"], reason, message, metadata);

/** A refusal that may pass: the same run may be asked for again. */
const mayPass = ({ kind, reason }: Refusal): boolean => kind === "unavailable" || reason === "CONCURRENCY_LIMIT_EXCEEDED";

interface Waiting {
  /** Resolves to the reason why the wait is over. */
  over: Promise<"settled" | "submitted" | "silent" | "deadline">;
  refusal: () => Refusal | undefined;
  /** The finished run, when it finished in this process. */
  record: () => ExecutionView | undefined;
  stop(): void;
}

interface Begun {
  /** The run as it was known already. */
  record: ExecutionView | null;
  /** It has just been begun, and has steps to take. */
  isHeavy: boolean;
}

/** A run that Temporal carries but that no row tells of yet. */
const underWay = (executionId: string, userId: string, receivedAt: Date): ExecutionView => ({
  _id: executionId,
  userId,
  workflowSlug: null,
  modelIds: [],
  source: "",
  keyId: null,
  holdId: executionId,
  markupPermille: 0,
  mode: "async",
  status: "processing",
  ending: null,
  requestId: null,
  resultJson: null,
  error: null,
  webhook: null,
  nodes: [],
  millicredits: 0,
  grantUsed: false,
  createdAt: receivedAt,
  finishedAt: null,
  durationMs: null,
  seenRunningAt: receivedAt,
});

const busy = (): DomainError => unavailable("too many runs are being started", 2);

const unknown = (): never => {
  throw new DomainError("not_found", "EXECUTION_NOT_FOUND", "execution not found");
};

export const createRuns = ({ planning, starter, store, channel, execution, starts = createSlots(STARTS) }: RunsOptions) => {
  /** The next news of a run: true when there are any, false after a silence or when nobody waits any more. */
  const news = (executionId: string, onRefused?: (refusal: Refusal) => void): { heard: Promise<boolean>; stop: () => void } => {
    let finish: (heard: boolean) => void = () => undefined;
    const heard = new Promise<boolean>((resolve) => (finish = resolve));
    const done = (isNews: boolean): void => {
      clearTimeout(timer);
      unsubscribe();
      finish(isNews);
    };
    const timer = setTimeout(() => done(false), TIMING.channelSilence / 2);
    const unsubscribe = channel.subscribe(executionId, (event) => {
      if (event.type === "refused") onRefused?.(event.data as unknown as Refusal);
      done(true);
    });
    return { heard, stop: () => done(false) };
  };

  /** Listens to a run's channel until what the mode waits for is announced, or the time is over. */
  const listen = (executionId: string, isAsync: boolean, waitMs: number): Waiting => {
    let refusal: Refusal | undefined;
    let finished: ExecutionView | undefined;
    let finish: (why: Awaited<Waiting["over"]>) => void = () => undefined;
    const over = new Promise<Awaited<Waiting["over"]>>((resolve) => (finish = resolve));
    const unsubscribe = channel.subscribe(executionId, (event, record) => {
      if (event.type === "refused") refusal = event.data as unknown as Refusal;
      finished ??= record;
      if (event.type === "settled" || event.type === "refused") finish("settled");
      if (isAsync && event.type === "submitted") finish("submitted");
    });
    const timer = setTimeout(() => finish("deadline"), waitMs);
    // What can't be heard is read: see `settle`.
    const silence = setTimeout(() => finish("silent"), Math.min(TIMING.channelSilence, waitMs + 1));
    return {
      over,
      refusal: () => refusal,
      record: () => finished,
      stop: () => {
        clearTimeout(timer);
        clearTimeout(silence);
        unsubscribe();
      },
    };
  };

  /** Reads what the channel did not say: the row, or the refusal that Temporal recorded. */
  const readState = async (executionId: string): Promise<ExecutionView | null> => {
    const record = await store.find(executionId);
    if (record) return record;
    const refusal = await store.refusalOf(executionId);
    if (refusal) throw refused(refusal);
    const outcome = await starter.outcome(executionId);
    if (typeof outcome === "object" && "refused" in outcome) throw refused(outcome.refused);
    return null;
  };

  /**
   * Starts a run. Under an id that is known already it answers how that run stands, unless it was refused for a reason
   * that may have passed: then it is started again, with a hold of its own.
   */
  const begin = async (input: RunInput): Promise<ExecutionView | null> => {
    if ((await starter.start(input)) === "started") return null;
    const record = await store.find(input.executionId);
    if (record) return record;
    const outcome = await starter.outcome(input.executionId);
    if (outcome === "unknown") throw unavailable("the run was ended from outside before it was admitted", 2);
    if (typeof outcome !== "object" || !("refused" in outcome)) return null;
    if (!mayPass(outcome.refused)) throw refused(outcome.refused);
    await store.forgetRefusal(input.executionId);
    await starter.start({ ...input, holdId: `${input.executionId}.${randomUUID().slice(0, 8)}` }, true);
    return null;
  };

  /** A request that is repeated joins its run, whatever has become of the workflow meanwhile. */
  const planAndBegin = async (request: executions.RunRequest, isAsync: boolean, receivedAt: number, answerBy: number): Promise<Begun> => {
    const { target, runner, inputsJson, executionId } = request;
    if (!runner) throw new DomainError("invalid", "INVALID_REQUEST", "a run needs a runner");
    let planned: PlannedRun;
    try {
      planned = await planning.plan({ target: target?.target, runner, inputsJson, isAsync });
    } catch (error) {
      const record = await store.findOwned(executionId, runner.userId);
      if (record) return { record, isHeavy: false };
      throw error;
    }
    // What nobody waits for any more is not begun: its caller was told that it is not.
    if (Date.now() >= answerBy - ANSWER_RESERVE_MS) throw busy();
    const record = await begin(toRunInput(request, runner, planned, receivedAt));
    return { record, isHeavy: record === null && planned.plan.steps.length > 0 };
  };

  /** Plans and begins in turn with other users' requests. A run with steps is taken on when its admission is heard of. */
  const takeOn = async (
    request: executions.RunRequest,
    isAsync: boolean,
    receivedAt: number,
    answerBy: number,
  ): Promise<ExecutionView | null> => {
    const key = request.runner?.userId ?? "";
    try {
      return await starts.use(
        async () => {
          const admission = news(request.executionId);
          try {
            const { record, isHeavy } = await planAndBegin(request, isAsync, receivedAt, answerBy);
            if (isHeavy) await admission.heard;
            return record;
          } finally {
            admission.stop();
          }
        },
        { key, maxWaitMs: START_WAIT_MS },
      );
    } catch (error) {
      throw error instanceof NoSlot ? busy() : error;
    }
  };

  const isAnswer = (record: ExecutionView | null, isAsync: boolean): boolean =>
    record !== null && (isFinal(record) || (isAsync && record.requestId !== null));

  /** Waits for the run as its mode asks, and returns how it stands then. */
  const settle = async (executionId: string, isAsync: boolean, deadline: number, first: Waiting): Promise<ExecutionView | null> => {
    let waiting = first;
    try {
      for (;;) {
        const why = await waiting.over;
        const refusal = waiting.refusal();
        if (refusal) throw refused(refusal);
        const finished = waiting.record();
        if (finished) return finished;
        const record =
          why === "deadline" || why === "settled" || why === "submitted" ? await store.find(executionId) : await readState(executionId);
        // Told once, perhaps while the store was read; a run that undoes its admission still looks as if it went on.
        const late = waiting.refusal();
        if (late) throw refused(late);
        if (isAnswer(record, isAsync) || Date.now() >= deadline) return record;
        if (why === "deadline") return record;
        waiting.stop();
        waiting = listen(executionId, isAsync, Math.max(1, deadline - Date.now()));
        // Something may have been announced between the two.
        const again = await store.find(executionId);
        if (isAnswer(again, isAsync)) return again;
      }
    } finally {
      waiting.stop();
    }
  };

  /**
   * A run that was not recorded yet when its time was over: admission is what the answer needs. Temporal is asked only when
   * the channel is silent.
   */
  const admitted = async (executionId: string, until: number): Promise<ExecutionView | null> => {
    let refusal: Refusal | undefined;
    let isSilent = false;
    while (Date.now() < until) {
      const { heard, stop } = news(executionId, (given) => (refusal = given));
      try {
        const record = await (isSilent ? readState(executionId) : store.find(executionId));
        if (record) return record;
        isSilent = !(await heard);
      } finally {
        stop();
      }
      if (refusal) throw refused(refusal);
    }
    return accepted(executionId);
  };

  /** A run whose admission takes too long to be waited for goes on, and is polled: from here on it can't be refused. */
  const accepted = async (executionId: string): Promise<ExecutionView | null> => {
    const refusal = await store.decideAdmission(executionId, null);
    if (refusal) throw refused(refusal);
    return store.find(executionId);
  };

  /** A run by its row; one that was accepted, but whose admission is still under way, by what Temporal knows. */
  const find = async (executionId: string, userId: string): Promise<ExecutionView | null> => {
    const record = await store.findOwned(executionId, userId);
    if (record) return record;
    const since = await starter.carriedSince(executionId, userId);
    // What a refused run may have held is still being given back.
    if (!since || (await store.refusalOf(executionId))) return null;
    // It may have been admitted meanwhile.
    return (await store.findOwned(executionId, userId)) ?? underWay(executionId, userId, since);
  };

  return {
    /**
     * Starts a run, or finds the one with the same id, and waits as its mode says.
     * @param answerBy when the caller waits no more, in milliseconds since the epoch
     * @throws DomainError why the run was refused; a run that ends badly is no error here.
     */
    run: async (request: executions.RunRequest, answerBy = Number.POSITIVE_INFINITY): Promise<ExecutionView> => {
      const receivedAt = Date.now();
      const isAsync = request.mode === executions.RunMode.RUN_MODE_ASYNC;
      const userId = request.runner?.userId ?? "";
      const deadline = receivedAt + request.waitMs;
      const waiting = listen(request.executionId, isAsync, Math.max(1, deadline - Date.now()));
      let record: ExecutionView | null;
      try {
        record = await takeOn(request, isAsync, receivedAt, answerBy);
        if (!isAnswer(record, isAsync)) record = await settle(request.executionId, isAsync, deadline, waiting);
      } finally {
        waiting.stop();
      }
      const until = Math.min(Date.now() + TIMING.admission, answerBy - ANSWER_RESERVE_MS);
      record ??= (await admitted(request.executionId, until)) ?? underWay(request.executionId, userId, new Date(receivedAt));
      if (record.userId !== userId) return unknown();
      return record;
    },

    /** @throws DomainError EXECUTION_NOT_FOUND, also for another user's execution. */
    get: async (executionId: string, userId: string): Promise<ExecutionView> => (await find(executionId, userId)) ?? unknown(),

    /** processing → cancel_requested, once; asking again tells the run again. */
    cancel: async (executionId: string, userId: string): Promise<string> => {
      if (!(await execution.requestCancel(executionId, userId))) {
        const record = (await find(executionId, userId)) ?? unknown();
        const ended = record.status === "cancel_requested" ? null : (record.ending ?? record.status);
        if (ended !== null && ended !== "processing") return `already_${ended}`;
        // It may be about to be recorded: whoever does that hears of it, or has done it by now.
        execution.announceCancel(executionId);
        await execution.requestCancel(executionId, userId);
      }
      await starter.cancel(executionId);
      return "cancel_requested";
    },
  };
};

export type Runs = ReturnType<typeof createRuns>;
