import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { ApplicationFailure } from "@temporalio/activity";
import type { PlanStep } from "@nodeloom/kernel/graph";
import type { Activities, ExtendInput, LocalActivities } from "../../src/workflow/activity-types";
import type { ModelCall } from "../../src/run/calls";
import { RUN_CANCELLED, type CallResult, type HeldItem, type RunEnd, type RunInput } from "../../src/run/types";
import { chargeFor } from "../../src/run/charge";
import { createRunStarter, type RunStarter } from "../../src/workflow/client";
import type { RunningTemporal } from "@nodeloom/platform/temporal";
import { startWorker } from "../support/temporal";
import { inputWith, planWith } from "../support/run-inputs";

/** Answers of a run's model, and the inputs of its activities. */
interface Script {
  answers: (call: ModelCall) => Partial<CallResult>;
  extend?: () => never;
  calls: ModelCall[];
  extended: ExtendInput[];
  end?: RunEnd;
}
const scripts = new Map<string, Script>();
const scriptOf = (executionId: string): Script => scripts.get(executionId)!;
const DYING_WORKER = join(__dirname, "..", "support", "dying-worker.cjs");
const SCHEMA = { type: "array", items: { type: "string" } };

const activities = {
  claim: () => Promise.resolve(true),
  extendHold: (input) => {
    const { extended, extend } = scriptOf(input.executionId);
    extended.push(input);
    extend?.();
    return Promise.resolve(input.items.map(({ key, maxMillicredits }) => ({ key, source: "credits", millicredits: maxMillicredits })));
  },
  settle: ({ executionId }, end) => {
    scriptOf(executionId).end = end;
    return Promise.resolve({ status: end.status, millicredits: 0 });
  },
  runText: (call) => {
    const { calls, answers } = scriptOf(call.executionId);
    calls.push(call);
    return Promise.resolve({ files: [], text: "", costMicroUsd: 1, requestId: null, ...answers(call) });
  },
} satisfies Partial<Activities & LocalActivities>;

let temporal: RunningTemporal;
let starter: RunStarter;
beforeAll(async () => {
  const taskQueue = `texts-${randomUUID().slice(0, 8)}`;
  temporal = await startWorker(taskQueue, activities);
  starter = createRunStarter({ client: temporal.client, taskQueue });
});
afterAll(() => temporal.stop());

const inputOf = (executionId: string, prompts: readonly string[], part: Partial<PlanStep> = {}): RunInput => {
  const step = {
    ...{
      id: "ask",
      type: "llm-assistant" as const,
      model: "m",
      literals: {},
      listPorts: [],
      textPorts: ["prompt"],
      inputNames: ["prompt"],
    },
    sources: { prompt: [{ value: prompts.length === 1 ? prompts[0]! : prompts }] },
    ...{ maxItems: prompts.length, maxMillicredits: 10, answer: { schema: SCHEMA, maxRepairMillicredits: 15 } },
    ...part,
  };
  const plan = planWith([step], {
    models: { m: { providerKind: "llm", modality: "text", price: { basis: "run", microUsd: 1 } } },
    output: { text: [{ node: "ask", port: "text" }], scenes: [{ node: "ask", port: "json" }] },
  });
  return inputWith(executionId, plan);
};

const run = async (
  part: Pick<Script, "answers" | "extend">,
  prompts = ["a"],
  step: Partial<PlanStep> = {},
  holds: HeldItem[] = [],
): Promise<Required<Omit<Script, "extend">>> => {
  const executionId = randomUUID();
  const script: Script = { ...part, calls: [], extended: [] };
  scripts.set(executionId, script);
  await starter.start({ ...inputOf(executionId, prompts, step), held: holds });
  await temporal.client.workflow.getHandle(executionId).result();
  return script as Required<Script>;
};
const keysOf = ({ calls }: Pick<Script, "calls">): string[] => calls.map(({ key, executionId }) => key.slice(executionId.length + 1));
const scenes = (...value: string[]): Partial<CallResult> => ({ text: JSON.stringify(value), json: { value } });
const WORDS: Partial<CallResult> = { text: "words", problems: ["it isn't JSON"] };

it("returns the answer's JSON with its text, and lists of several answers as one", async () => {
  const { end, calls, extended } = await run({ answers: ({ item }) => scenes(`${item}a`, `${item}b`) }, ["x", "y"]);
  expect(end).toMatchObject({ status: "completed", result: { text: '["0a","0b"]\n\n["1a","1b"]', scenes: ["0a", "0b", "1a", "1b"] } });
  expect(calls.map(({ schema, repair }) => [schema, repair])).toEqual([
    [SCHEMA, undefined],
    [SCHEMA, undefined],
  ]);
  expect(extended).toEqual([]);
});

it("warns about texts that continue although they were cut, but not about repeated ones", async () => {
  const answers = ({ item, repair }: ModelCall): Partial<CallResult> =>
    item === 1 && !repair ? { ...WORDS, isCut: true } : { ...scenes("a"), ...(item === 0 ? { isCut: true } : {}) };
  const { end } = await run({ answers }, ["x", "y"]);
  const warnings = ["1 of 2 texts end where the most tokens of an answer were reached: raise maxTokens"];
  expect(end).toMatchObject({ status: "completed", nodes: [{ id: "ask", cutTexts: 1, warnings }] });
  const { end: single } = await run({ answers: () => ({ ...scenes("a"), isCut: true }) });
  expect(single.nodes[0]!.warnings).toEqual(["the text ends where the most tokens of an answer were reached: raise maxTokens"]);
});

it("asks once more for an answer that doesn't match, holds the cost before, and charges each call once", async () => {
  const { end, calls, extended } = await run({ answers: ({ repair }) => (repair ? scenes("a") : WORDS) });
  expect(keysOf({ calls })).toEqual(["ask:0", "ask:0.repair"]);
  expect(calls[1]!.repair).toEqual({ answer: "words", problems: ["it isn't JSON"] });
  expect(extended.map(({ items }) => items)).toEqual([[{ key: "ask:0.repair", model: "m", maxMillicredits: 15 }]]);
  expect(end).toMatchObject({ status: "completed", result: { scenes: ["a"] }, nodes: [{ items: 1, itemsDone: 1 }] });
  expect(end.completed.map(({ key }) => key)).toEqual(["ask:0", "ask:0.repair"]);
  expect(end.extended).toMatchObject([{ key: "ask:0.repair" }]);
});

it("fails the node if the second answer doesn't match either; both calls were made and are charged", async () => {
  const { end, calls } = await run({ answers: () => WORDS });
  expect(calls).toHaveLength(2);
  expect(end).toMatchObject({
    status: "failed",
    error: { code: "EXECUTION_FAILED", nodeId: "ask", message: "node ask: m: its answer does not fit the schema: it isn't JSON" },
  });
  expect(end.completed.map(({ key }) => key)).toEqual(["ask:0", "ask:0.repair"]);
});

it("doesn't ask again if there are no credits for it", async () => {
  const extend = (): never => {
    const problem = { code: "INSUFFICIENT_CREDITS", message: "not enough", nodeId: "ask" };
    throw ApplicationFailure.nonRetryable(problem.message, problem.code, problem);
  };
  const { end, calls } = await run({ answers: () => WORDS, extend });
  expect(calls).toHaveLength(1);
  expect(end).toMatchObject({ status: "failed", error: { code: "INSUFFICIENT_CREDITS" }, completed: [{ key: "ask:0" }] });
});

const HELD: HeldItem = { key: "ask:0", source: "credits", millicredits: 2 };
/** A call costs 2 with a text of 100 bytes, and 10 with a text of 1,100. */
const TYPICAL = { typical: { millicredits: 2, inputBytes: 100, mostBytes: 1_100, files: [] } };

it("holds more before a call whose text is longer than expected, charges its actual cost, and nothing more for a short one", async () => {
  const answers = (): Partial<CallResult> => ({ ...scenes("a"), costMicroUsd: 55 });
  const long = await run({ answers }, ["x".repeat(587)], TYPICAL, [HELD]);
  expect(long.extended.map(({ items }) => items)).toEqual([[{ key: "ask:0.more", model: "m", maxMillicredits: 4 }]]);
  const charge = chargeFor(long.end, [HELD, ...long.end.extended!], 1_000);
  expect(charge.items.map(({ key, nodeId, captureMillicredits }) => [key, nodeId, captureMillicredits])).toEqual([
    ["ask:0", "ask", 2],
    ["ask:0.more", "ask", 4],
  ]);
  const short = await run({ answers }, ["x"], TYPICAL, [HELD]);
  expect(short.extended).toEqual([]);
});

it("sends nothing if the credits don't pay for the text's full length, or the node allows fewer characters", async () => {
  const extend = (): never => {
    const problem = { code: "INSUFFICIENT_CREDITS", message: "not enough", nodeId: "ask" };
    throw ApplicationFailure.nonRetryable(problem.message, problem.code, problem);
  };
  const poor = await run({ answers: () => scenes("a"), extend }, ["x".repeat(600)], TYPICAL, [HELD]);
  expect(poor).toMatchObject({ calls: [], end: { status: "failed", error: { code: "INSUFFICIENT_CREDITS" }, completed: [] } });
  const limited = await run({ answers: () => scenes("a") }, ["x".repeat(51)], { maxInputChars: 50 });
  const message = "node ask: the texts have 51 characters, and maxInputChars allows 50";
  expect(limited).toMatchObject({ calls: [], end: { status: "failed", error: { code: "EXECUTION_FAILED", message } } });
});

it("charges the whole hold of a long text if the run is cancelled during the call", () => {
  const more: HeldItem = { key: "ask:0.more", source: "credits", millicredits: 4 };
  const ending = { status: "cancelled", error: null, completed: [], underWay: ["ask:0"] } as const;
  expect(chargeFor(ending, [HELD, more], 1_000).items.map(({ captureMillicredits }) => captureMillicredits)).toEqual([2, 4]);
});

it("charges only the first answer if the run is cancelled before the second call is sent", async () => {
  const answers = ({ repair }: ModelCall): Partial<CallResult> => {
    if (repair) throw ApplicationFailure.nonRetryable("the run is being cancelled", RUN_CANCELLED);
    return WORDS;
  };
  const { end } = await run({ answers });
  expect(end).toMatchObject({ status: "cancelled", completed: [{ key: "ask:0" }] });
  expect(end.completed).toHaveLength(1);
});

it("charges an answer once, and requests no other, if the process dies before the model is called again", async () => {
  const [executionId, taskQueue] = [randomUUID(), `dying-${randomUUID().slice(0, 8)}`];
  const madeCalls: ModelCall[] = [];
  const child = fork(DYING_WORKER, [process.env.TEMPORAL_ADDRESS!, taskQueue], { stdio: "inherit" });
  const ready = new Promise((resolve) => {
    child.on("message", (answerOrReady: ModelCall | "ready") =>
      answerOrReady === "ready" ? resolve(answerOrReady) : madeCalls.push(answerOrReady),
    );
  });
  const script: Script = { answers: () => scenes("a"), calls: [], extended: [] };
  scripts.set(executionId, script);
  await ready;
  const input = inputOf(executionId, ["a"]);
  await createRunStarter({ client: temporal.client, taskQueue }).start(input);
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
  const heir = await startWorker(taskQueue, activities);
  await temporal.client.workflow.getHandle(executionId).result();
  await heir.stop();
  // The first activity asks the model, and the second asks again.
  expect([keysOf({ calls: madeCalls }), keysOf(script)]).toEqual([["ask:0"], ["ask:0.repair"]]);
  const end = script.end!;
  expect(end).toMatchObject({ status: "completed", result: { scenes: ["a"] } });
  const holds: HeldItem[] = [{ key: "ask:0", source: "credits", millicredits: 10 }, ...(end.extended ?? [])];
  expect(chargeFor(end, holds, 1_000).items.map(({ key }) => key)).toEqual(["ask:0", "ask:0.repair"]);
});
