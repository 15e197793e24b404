import { randomUUID } from "node:crypto";
import { DomainError, executionOf } from "@nodeloom/kernel";
import { billing as billingProto, executions } from "@nodeloom/proto";
import type { FinalStatus, HeldItem, RunEnd, RunInput } from "../../src/run/types";
import type { Cancellation } from "../../src/accept/cancellation";
import { wireLifecycle } from "../../src/lifecycle/wire";
import { wireAccept } from "../../src/accept/wire";
import type { Outbox } from "../../src/lifecycle/outbox";
import { createExecution, type Execution } from "../../src/lifecycle/execution";
import type { Holds } from "../../src/lifecycle/holds";
import type { Queue } from "../../src/lifecycle/queue";
import { createReconciler } from "../../src/upkeep/reconcile";
import type { StartResult, Runs } from "../../src/accept/runs";
import { isAnnounced } from "../../src/run/delivery";
import type { ExecutionView } from "../../src/run/record";
import { isFinal } from "../../src/run/states";
import type { Stores } from "../../src/record/stores";
import { createRelayedRuns } from "../../src/upkeep/runs";
import { createLooks } from "../../../../test-support/looks";
import type { PlannedRun } from "../../src/plan/planning";
import { localChannel } from "./local-channel";
import { noCanaries, noCanaryWorkflows } from "./no-canaries";
import { noReruns } from "./no-reruns";
import { initialNodes } from "../../src/run/nodes";
import { createProcess, type Process } from "./faults";
import { logger, reportEach, runOf, settling, type Money } from "./money";

/** Replicas of executions that can fail, with the real store, billing and usage. The test carries out their workflows. */

export const PRICE = 1_000;
/** Cost of a completed call: 4,000 micro-dollars at the markup of 1.5. */
export const COST = 600;
/** Time that callers wait. Patient callers wait longer, so that a busy machine doesn't cause refusals. */
const ANSWER_MS = 1_400;
const PATIENT_MS = 60_000;
const LONG_DEADLINE = { deadlineMs: PATIENT_MS };
const ROUNDS = 12;

interface OpenRun {
  input: RunInput;
  runId: string;
  isCancelled: boolean;
  /** True if its task has failed; it can still continue. */
  isFailing?: boolean;
  extended: HeldItem[];
}

/** Simulates Temporal: one open workflow per id, independent of processes. */
const createTemporal = () => {
  const open = new Map<string, OpenRun>();
  const delivered = new Set<string>();
  return {
    open,
    delivered,
    port: {
      start: async (input: RunInput): Promise<"started" | "exists"> => {
        if (open.has(input.executionId)) return "exists";
        open.set(input.executionId, { input, runId: randomUUID(), isCancelled: false, extended: [] });
        return "started";
      },
      cancel: async (id: string): Promise<void> => {
        const carriedRun = open.get(id);
        if (carriedRun) carriedRun.isCancelled = true;
      },
      isRunning: async (id: string): Promise<boolean> => open.has(id),
      isFailing: async (id: string): Promise<boolean> => open.get(id)?.isFailing ?? false,
      terminate: async (id: string): Promise<void> => void open.delete(id),
      announceEnd: async (id: string): Promise<void> => void delivered.add(id),
      announceWait: async (): Promise<void> => undefined,
      decided: async (): Promise<void> => undefined,
      placed: async (): Promise<void> => undefined,
    },
  };
};

/** One process of the service. */
export interface Replica {
  process: Process;
  stores: Stores;
  execution: Execution;
  holds: Holds;
  outbox: Outbox;
  queue: Queue;
  runs: Runs;
  cancellation: Cancellation;
  reconcile: ReturnType<typeof createReconciler>;
  settle: ReturnType<typeof settling>;
  sweep(): Promise<void>;
}

type TemporalPort = ReturnType<typeof createTemporal>["port"];

/** A planned run with this number of paid calls; 0 if it makes no calls. */
const planned = (calls: number): PlannedRun => {
  const { plan, holds } = runOf("any", [{ id: "pics", model: "painter", calls, maxMillicredits: PRICE }]);
  return {
    plan: calls === 0 ? { ...plan, steps: [] } : plan,
    holds: calls === 0 ? [] : holds,
    workflowSlug: "flow",
    modelIds: ["painter"],
    inputsJson: "{}",
  };
};

const createReplica = (money: Money, temporal: TemporalPort, userId: string, process: Process, later: number): Replica => {
  const channel = localChannel();
  const now = (): number => Date.now() + later;
  const stores: Stores = {
    ...money.stores,
    rows: process.wrap("rows", {
      ...money.stores.rows,
      // Excludes runs of other tests.
      unseenSince: async (...args: Parameters<typeof money.stores.rows.unseenSince>) =>
        (await money.stores.rows.unseenSince(...args)).filter((row) => row.userId === userId),
      unsettled: async (...args: Parameters<typeof money.stores.rows.unsettled>) =>
        (await money.stores.rows.unsettled(...args)).filter((row) => row.userId === userId),
    }),
    log: process.wrap("log", money.stores.log),
    calls: process.wrap("calls", money.stores.calls),
    payloads: process.wrap("payloads", money.stores.payloads),
    queues: process.wrap("queues", money.stores.queues),
    approvals: process.wrap("approvals", money.stores.approvals),
  };
  const billing = process.wrap("billing", money.billing);
  const usage = process.wrap("usage", money.usage);
  const starter = process.wrap("temporal", temporal);
  const execution = createExecution({ stores, channel });
  const webhooks = {
    end: async (row: ExecutionView) => {
      if (isAnnounced(row)) await starter.announceEnd(row._id);
    },
    waiting: () => starter.announceWait(),
  };
  const lifecycle = wireLifecycle({
    ...{ stores, execution, billing, starter, logger },
    ...{
      reports: reportEach(usage),
      webhooks,
      canaries: noCanaries,
      mailApprovers: () => Promise.resolve(),
      erase: () => Promise.resolve(),
    },
  });
  const planning = {
    plan: ({ inputsJson }: { inputsJson: string }) => Promise.resolve(planned((JSON.parse(inputsJson) as { calls: number }).calls)),
  };
  const { runs, cancellation } = wireAccept({
    ...{ stores, channel, execution, lifecycle, planning, starter },
    ...{ reruns: noReruns, tasks: starter, workflows: noCanaryWorkflows, own: "https://platform.test/media/" },
  });
  const { holds, outbox, queue, end } = lifecycle;
  return {
    process,
    stores,
    execution,
    holds,
    outbox,
    queue,
    runs,
    cancellation,
    reconcile: createReconciler({ stores, starter, end, logger, unseenMs: 0 }),
    settle: settling(end.end),
    sweep: createLooks(createRelayedRuns({ stores, execution, end, queue, outbox, now })),
  };
};

/** Response to a client about a run. */
export type Answer = { reply: StartResult } | { error: DomainError };

export interface RunPlan {
  /** Number of planned calls; 0 by default. */
  calls?: number;
  /** Number of additional calls for a list. */
  more?: number;
  end?: FinalStatus;
}

const { RUN_MODE_RESPOND_ASYNC } = executions.RunMode;

export interface RequestPart extends Omit<Partial<executions.RunRequest>, "runner"> {
  concurrency?: number;
}

export const createWorld = async (money: Money, { funds = 20 * PRICE }: { funds?: number } = {}) => {
  const userId = randomUUID();
  const reference = randomUUID();
  await money.billing.credit(
    billingProto.CreditRequest.fromPartial({ userId, kind: billingProto.CreditKind.CREDIT_KIND_PLAN, millicredits: funds, reference }),
  );
  const temporal = createTemporal();
  const plans = new Map<string, RunPlan>();
  /** All responses to clients, by run. */
  const answers = new Map<string, Answer[]>();
  /** Number of requests per run, and of open ones. */
  const asksById = new Map<string, { starts: number; open: number }>();

  const replica = (process: Process = createProcess(), later = 0): Replica => createReplica(money, temporal.port, userId, process, later);

  const requestOf = ({ concurrency = 1, ...part }: RequestPart = {}, plan: RunPlan = {}): executions.RunRequest => {
    const executionId = randomUUID();
    plans.set(executionId, plan);
    const runner = {
      userId,
      concurrency,
      baseTier: "pro",
      source: "api-workflow",
      keyId: "key",
      webhookUrl: "https://receiver.test",
      webhookEvents: [],
    };
    const base = {
      executionId,
      inputsJson: JSON.stringify({ calls: plan.calls ?? 1 }),
      mode: RUN_MODE_RESPOND_ASYNC,
      waitMs: 100,
      fingerprint: "f",
      requestToken: randomUUID(),
    };
    return executions.RunRequest.fromPartial({ ...base, ...part, runner });
  };

  /** Sends a client's request. If the process dies, there is no response. */
  const ask = async (one: Replica, request: executions.RunRequest, isPatient = false): Promise<Answer | undefined> => {
    const asks = asksById.get(request.executionId) ?? { starts: 0, open: 0 };
    asksById.set(request.executionId, asks);
    const isAlone = asks.open === 0;
    asks.open += 1;
    const mine = (asks.starts += 1);
    // The response to an earlier request guarantees nothing about this one.
    const replies = answers.get(request.executionId)?.filter((answer) => "reply" in answer) ?? [];
    answers.set(request.executionId, replies);
    const answered: Promise<Answer> = one.runs.run(request, Date.now() + (isPatient ? PATIENT_MS : ANSWER_MS)).then(
      (reply) => ({ reply }),
      (error: DomainError) => ({ error }),
    );
    const answer = await Promise.race([answered, one.process.death]);
    asks.open -= 1;
    // A refusal guarantees nothing about concurrent requests.
    const isPromise = answer !== undefined && ("reply" in answer || (isAlone && asks.starts === mine));
    if (isPromise) answers.set(request.executionId, [...(answers.get(request.executionId) ?? []), answer]);
    return answer ?? undefined;
  };

  /** Simulates an activity. Until it succeeds it is retried, by another process after a crash. */
  const activity = async <T>(by: () => Replica, work: (one: Replica) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt += 1) {
      const one = by();
      try {
        const result = await Promise.race([work(one).then((value) => ({ value })), one.process.death]);
        if (result) return result.value;
        if (by() === one) throw new Error("nothing is left that could go on");
      } catch (error) {
        const isTransient = !(error instanceof DomainError) || error.kind === "unavailable" || error.kind === "internal";
        if (attempt > ROUNDS || !isTransient) throw error;
      }
    }
  };

  const endOf = ({ input, extended }: OpenRun, status: FinalStatus, doneKeys: readonly string[]): RunEnd => ({
    status,
    result: status === "completed" ? { images: [] } : null,
    error: status === "failed" ? { code: "EXECUTION_FAILED", message: "it failed" } : null,
    requestId: null,
    nodes: initialNodes(input.plan).map((node) => ({ ...node, status: status === "completed" ? "completed" : "skipped" })),
    completed: doneKeys.map((key) => ({ key, nodeId: "pics", costMicroUsd: 4_000 })),
    extended,
  });

  /** First step of a run's workflow. */
  const claim = (id: string, by: () => Replica): Promise<boolean> =>
    activity(by, async (one) => {
      const carriedRun = temporal.open.get(id);
      if (!carriedRun) return false;
      const { input, runId } = carriedRun;
      return (await one.execution.claim(id, input.attempt, runId)) !== null;
    });

  /** Makes the calls of a run until it is cancelled. @returns keys of completed calls, and true if the run failed */
  const callAll = async (id: string, carriedRun: OpenRun, by: () => Replica): Promise<{ doneKeys: string[]; isRefused: boolean }> => {
    const { input } = carriedRun;
    const { more = 0 } = plans.get(id) ?? {};
    const doneKeys: string[] = [];
    const keys = Array.from({ length: input.holds.length + more }, (_, item) => `pics:${item}`);
    for (const [item, key] of keys.entries()) {
      if (carriedRun.isCancelled || temporal.open.get(id) !== carriedRun) break;
      if (item === input.holds.length) {
        const items = keys.slice(item).map((one) => ({ key: one, model: "painter", maxMillicredits: PRICE }));
        const extended = await activity(by, (one) => one.holds.extend(input, items)).catch((error: unknown) => error);
        if (!Array.isArray(extended)) return { doneKeys, isRefused: true };
        carriedRun.extended = extended as HeldItem[];
      }
      const call = { key: `${id}:${key}`, executionId: id, nodeId: "pics", item };
      const itemCall = { ...call, userId, nodeIndex: 0, items: keys.length, startedAt: Date.now() };
      await activity(by, (one) => one.stores.calls.submitted(call, "send"));
      await activity(by, (one) => one.execution.submitted(itemCall, "job"));
      await activity(by, (one) =>
        one.stores.calls.recordEnd({ ...call, _id: call.key, status: "completed", costMicroUsd: 4_000, requestId: null } as never),
      );
      await activity(by, (one) => one.execution.itemCompleted(itemCall, {}));
      doneKeys.push(key);
    }
    return { doneKeys, isRefused: false };
  };

  /** Carries out a workflow from its claim to its settlement, unless it is terminated. */
  const carry = async (id: string, by: () => Replica): Promise<void> => {
    const carriedRun = temporal.open.get(id);
    if (!carriedRun) return;
    const { input } = carriedRun;
    if (await claim(id, by)) {
      const { doneKeys, isRefused } = await callAll(id, carriedRun, by);
      if (temporal.open.get(id) !== carriedRun) return;
      const status = carriedRun.isCancelled ? "cancelled" : isRefused ? "failed" : (plans.get(id)?.end ?? "completed");
      await activity(by, (one) => one.settle(input, endOf(carriedRun, status, doneKeys)));
    }
    if (temporal.open.get(id) === carriedRun) temporal.open.delete(id);
  };

  const rows = () => Promise.all([...plans.keys()].map((id) => money.stores.rows.find(id)));

  /** Carries out started workflows until the work is done. */
  const carryUntil = async (work: Promise<unknown>, by: () => Replica): Promise<void> => {
    let isDone = false;
    const finishing = work.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await Promise.all([...temporal.open.keys()].map((id) => carry(id, by)));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await finishing;
  };

  /** Carries out workflows and runs sweeps until no work is left. */
  const settle = async (by: () => Replica): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await Promise.all([...temporal.open.keys()].map((id) => carry(id, by)));
      await by().sweep();
      const hasUnsettled = (await rows()).some((row) => row?.unsettled === true);
      if (!hasUnsettled && temporal.open.size === 0) break;
    }
    // A place that an ended run left is found when the next run needs it.
    await by().queue.mend(userId, []);
  };

  /** Checks the rules for an ended run. @returns violations */
  const faultsOf = async (id: string): Promise<string[]> => {
    const row = await money.stores.rows.find(id);
    const faults: string[] = [];
    const expectThat = (holds: boolean, what: string): void => void (holds || faults.push(`${id}: ${what}`));
    const isOver = row !== null && isFinal(row);
    expectThat(row === null || isOver || row.status === "refused", `is ${row?.status}`);
    expectThat(row?.unsettled === undefined && (row?.outbox ?? []).length === 0, `unsettled ${JSON.stringify(row?.outbox)}`);
    for (const answer of answers.get(id) ?? []) {
      if ("reply" in answer) expectThat(isOver, `was told as ${answer.reply.row.status}, and is ${row?.status}`);
    }
    const last = answers.get(id)?.at(-1);
    const isRefused = last && "error" in last && last.error.metadata?.outcome !== "unknown";
    if (isRefused) expectThat(!isOver, `was refused with ${last.error.reason}, and is ${row?.status}`);
    const { rows: ledger } = await money.billing.listLedger({ userId, limit: 200, cursor: "" }, LONG_DEADLINE);
    const captures = ledger.filter(({ kind, executionId }) => kind === "capture" && executionOf(executionId ?? "") === id);
    expectThat(captures.length <= 1, `is charged ${captures.length} times`);
    const charged = 0 - captures.reduce((sum, { millicredits }) => sum + millicredits, 0);
    expectThat(charged === (isOver ? row.millicredits : 0), `is charged ${charged}, and its row says ${row?.millicredits}`);
    const { rows: used } = await money.usage.listRows(
      {
        userId,
        status: "",
        modelId: "",
        workflowSlug: "",
        limit: 200,
        offset: 0,
        sources: [],
      },
      LONG_DEADLINE,
    );
    const own = used.filter(({ executionId }) => executionId === id);
    expectThat(own.length === (isOver ? 1 : 0), `has ${own.length} usage rows`);
    if (isOver && own[0]) {
      expectThat(own[0].status === row.status, `is ${row.status}, and its usage ${own[0].status}`);
      expectThat(own[0].millicredits === charged, `is charged ${charged}, and its usage says ${own[0].millicredits}`);
    }
    expectThat(!isOver || temporal.delivered.has(id), "has no webhook");
    const log = isOver ? (await money.stores.log.events(id, userId, 0))!.events.map(({ key }) => key) : [];
    expectThat(new Set(log).size === log.length, `tells something twice: ${log.join()}`);
    expectThat(!isOver || (log[0] === "admitted" && log.at(-1) === "settled"), `tells ${log.join()}`);
    const ends = log.filter((key) => /^(completed|failed|cancelled|skipped):pics$/.test(key));
    expectThat(!isOver || row.nodes.length === ends.length, `tells of the end of its nodes ${ends.length} times`);
    return faults;
  };

  /** Checks the rules for all runs together. */
  const faults = async (): Promise<string[]> => {
    const allFaults = (await Promise.all([...plans.keys()].map(faultsOf))).flat();
    const { account } = await money.billing.getAccount({ userId }, LONG_DEADLINE);
    if (account!.heldMillicredits !== 0 || account!.activeHolds !== 0) allFaults.push(`${account!.heldMillicredits} are held still`);
    const line = await money.stores.queues.find(userId);
    const places = [...line.running, ...line.waiting.map((one) => one.id)];
    if (places.length > 0) allFaults.push(`${places.join()} have places`);
    return allFaults;
  };

  return { userId, temporal, replica, requestOf, ask, claim, carry, carryUntil, settle, faults, rows };
};

export type World = Awaited<ReturnType<typeof createWorld>>;
