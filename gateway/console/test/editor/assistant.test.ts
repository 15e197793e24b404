import type { Model } from "@nodeloom/client";
import { nodesOf } from "../../src/document/graph";
import { openDocument, type OpenDocument } from "../../src/document/document";
import { createAssistant, type AssistantOptions, type Entry } from "../../src/editor/assistant/assistant";
import { isNewest, type Change } from "../../src/editor/assistant/edit";
import { CeilingReached, type ModelAnswer, type ToolCall, type Turn } from "../../src/editor/assistant/loop";
import { answerIn, type Question } from "../../src/editor/assistant/question";
import type { McpAnswer, McpTools } from "../../src/editor/assistant/tools";
import { createService, manualTimers, memoryDrafts } from "../support/service";

const MODEL = { internalName: "thinker" } as Model;

const object = (properties: object, required: string[] = []) => ({ type: "object", properties, required, additionalProperties: false });
const text = { type: "string" };
const operation = (op: string, members: object, required: string[]) => object({ op: { const: op }, ...members }, ["op", ...required]);
/** Tools as `tools/list` returns them, and one that the assistant must not get. */
const HEADS = [
  { name: "list_node_kinds", description: "Lists kinds", inputSchema: object({ q: text }) },
  {
    name: "patch_workflow",
    description: "Changes the draft",
    inputSchema: object(
      {
        slug: text,
        operations: {
          type: "array",
          items: {
            oneOf: [
              operation("add_node", { id: text, type: text, data: { type: "object" } }, ["id", "type"]),
              operation("remove_node", { id: text }, ["id"]),
              operation("connect", { source: text, target: text }, ["source", "target"]),
            ],
          },
        },
      },
      ["slug", "operations"],
    ),
  },
  {
    name: "run_node",
    description: "Runs a node",
    inputSchema: object({ slug: text, node: text, maxCredits: { type: "number" } }, ["slug", "node"]),
  },
  { name: "publish", description: "Publishes", inputSchema: object({}) },
];

let calls: { name: string; args: Record<string, unknown> }[];
const replied = (structured: Record<string, unknown>, isError = false): McpAnswer => ({
  text: JSON.stringify(structured),
  isError,
  structured,
});
const mcp = (run: McpAnswer = replied({ executionId: "run-1" })): McpTools => ({
  list: () => Promise.resolve(HEADS),
  call: (name, args) => {
    calls.push({ name, args: Object.fromEntries([...args].map(([key, json]) => [key, JSON.parse(json) as unknown])) });
    return Promise.resolve(name === "run_node" ? run : replied({ valid: true, issues: [], estimatedCreditCost: 2 }));
  },
});

let count = 0;
const call = (name: string, args: object | string): ToolCall => {
  count += 1;
  return { id: `call_${count}`, type: "function", function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) } };
};
const patch = (...operations: object[]): ToolCall => call("patch_workflow", { operations });
const says = (...toolCalls: ToolCall[]): ModelAnswer => ({ text: "", calls: toolCalls });
const DONE: ModelAnswer = { text: "Done.", calls: [] };

const document = (): Promise<OpenDocument> => {
  const service = createService('[{"id":"note","type":"note","data":{"text":"mine"}}]');
  const remote = service.connect({ cut: "none" });
  return openDocument({ loaded: service.load(), remote, drafts: memoryDrafts(), timers: manualTimers(), mayWrite: () => true });
};

/** An assistant whose model gives these answers, one per turn, and then the last one again. Each answer costs 1 credit. */
const scripted = async (answers: readonly ModelAnswer[], options: Partial<AssistantOptions> = {}) => {
  const open = await document();
  const questions: Question[] = [];
  const assistant = createAssistant({
    slug: "posters",
    document: open,
    mcp: mcp(),
    ask: (question, purse) => {
      if (purse.left() < 1) throw new CeilingReached("The next answer could cost 1 credit.");
      questions.push({ ...question, steps: [...question.steps] });
      purse.reserve(1)(1);
      return Promise.resolve(answers[Math.min(questions.length, answers.length) - 1]!);
    },
    endOf: () => Promise.resolve({ status: "completed", cost: 3, node: { outputs: {} }, error: null }),
    ...options,
  });
  const { store } = assistant;
  const ids = (): string[] => nodesOf(open.store.getState().graph).map(({ id }) => id);
  const ending = (): Entry | undefined => store.getState().entries.at(-1);
  const changes = (): Change[] => store.getState().entries.flatMap((entry) => (entry.kind === "change" ? [entry.change] : []));
  return { assistant, open, questions, store, ids, ending, changes };
};

const lastAnswers = (questions: readonly Question[]): Turn[] => questions.at(-1)!.steps.filter(({ role }) => role === "tool");

beforeEach(() => {
  calls = [];
});

const FOX = { op: "add_node", id: "fox", type: "generate-image", data: { prompt: "a fox" } };

describe("the assistant", () => {
  it("changes the open document, checks it as it is there, and says so", async () => {
    const { assistant, ids, store, questions } = await scripted([says(patch(FOX)), DONE]);
    await assistant.send("a fox", MODEL);
    expect(ids()).toEqual(["note", "fox"]);
    expect(calls).toEqual([
      {
        name: "validate",
        args: expect.objectContaining({ slug: "posters", nodes: [expect.anything(), expect.objectContaining({ id: "fox" })] }),
      },
    ]);
    expect(questions[0]!.prompt).toContain('"text":"mine"');
    expect(store.getState().entries.map(({ kind }) => kind)).toEqual(["request", "change", "text"]);
    expect(store.getState().entries[1]).toMatchObject({ check: { valid: true, issues: 0, estimatedCreditCost: 2 } });
    expect(store.getState()).toMatchObject({ isWorking: false, spent: 2 });
  });

  it("makes each list of operations one step, which undo takes back, and leaves the steps of the user alone", async () => {
    const { assistant, open, ids, changes } = await scripted([
      says(patch(FOX, { op: "connect", source: "note", target: "fox" })),
      says(patch({ op: "remove_node", id: "note" })),
      DONE,
    ]);
    await assistant.send("a fox", MODEL);
    const [first, second] = changes();
    expect(ids()).toEqual(["fox"]);
    expect(isNewest(open, first!)).toBe(false);
    expect(assistant.undo(first!)).toBe(false);
    expect(assistant.undo(second!)).toBe(true);
    expect(ids()).toEqual(["note", "fox"]);
    open.undo();
    expect(ids()).toEqual(["note"]);
    expect(open.store.getState().graph.edges).toEqual([]);
  });

  it("applies none of the operations if one of them is wrong, and lets the model correct it", async () => {
    const wrong = patch(FOX, { op: "remove_node", id: "nothing" });
    const { assistant, questions, changes, ids } = await scripted([says(wrong), says(patch(FOX)), DONE]);
    await assistant.send("a fox", MODEL);
    expect(changes()).toHaveLength(1);
    expect(ids()).toEqual(["note", "fox"]);
    expect(lastAnswers(questions)[0]!.content).toContain("operations.1.id: there is no node nothing");
  });

  it("never calls the model again once the ceiling is reached", async () => {
    const { assistant, questions, ending, store } = await scripted([says(call("list_node_kinds", {}))]);
    store.setState({ ceiling: 3 });
    await assistant.send("a fox", MODEL);
    expect(questions).toHaveLength(3);
    expect(ending()).toEqual({ kind: "end", ending: { kind: "ceiling", message: "The next answer could cost 1 credit." } });
    expect(store.getState().spent).toBe(3);
  });

  it("runs nothing unless the user allowed it", async () => {
    const { assistant, questions } = await scripted([says(call("run_node", { node: "fox" })), DONE]);
    await assistant.send("a fox", MODEL);
    expect(calls).toEqual([]);
    expect(lastAnswers(questions)[0]!.content).toContain("There is no tool run_node.");
  });

  it("runs a node with at most what is left, and counts what the run cost", async () => {
    const { assistant, store } = await scripted([says(call("run_node", { node: "note", maxCredits: 500 })), DONE]);
    store.setState({ allowsRuns: true, ceiling: 8 });
    await assistant.send("try it", MODEL);
    expect(calls).toEqual([{ name: "run_node", args: { slug: "posters", node: "note", maxCredits: 7, waitSeconds: 0 } }]);
    expect(store.getState().spent).toBe(5);
  });

  it("counts a run whose end isn't known as all that it could cost", async () => {
    const endOf = () => Promise.reject(new Error("the connection broke"));
    const { assistant, store } = await scripted([says(call("run_node", { node: "note", maxCredits: 4 })), DONE], { endOf });
    store.setState({ allowsRuns: true });
    await assistant.send("try it", MODEL);
    expect(store.getState().spent).toBe(6);
  });

  it("counts a run that was rejected as nothing", async () => {
    const rejecting = mcp(replied({ code: "WORKFLOW_INVALID" }, true));
    const { assistant, store } = await scripted([says(call("run_node", { node: "note" })), DONE], { mcp: rejecting });
    store.setState({ allowsRuns: true });
    await assistant.send("try it", MODEL);
    expect(store.getState().spent).toBe(2);
  });

  it.each([
    ["an unknown tool", call("make_coffee", {}), "There is no tool make_coffee. The tools are list_node_kinds, patch_workflow."],
    ["a tool that isn't offered", call("publish", {}), "There is no tool publish."],
    ["arguments that aren't JSON", call("patch_workflow", '{"operations": ['), "The arguments must be one JSON object."],
    ["arguments that aren't an object", call("patch_workflow", "[1]"), "The arguments must be one JSON object."],
    ["an operation without its members", patch({ op: "add_node", id: "x" }), "operations.0.type: is required"],
    ["an argument that the assistant sets itself", call("patch_workflow", { slug: "other", operations: [] }), "slug"],
  ])("answers %s, and ends once the same call keeps failing", async (_what, wrong, answer) => {
    const { assistant, questions, ids, ending } = await scripted([says(wrong)]);
    await assistant.send("a fox", MODEL);
    expect(lastAnswers(questions)[0]!.content).toContain(answer);
    expect(questions).toHaveLength(3);
    expect(ending()).toMatchObject({ ending: { kind: "failures" } });
    expect(ids()).toEqual(["note"]);
  });

  it("ends after the most turns, and after the most calls", async () => {
    const asking = says(call("list_node_kinds", {}), call("list_node_kinds", { q: "x" }));
    const bounds = { turns: 2, calls: 100, failures: 3, characters: 10_000, ms: 10_000 };
    const few = await scripted([asking], { bounds });
    await few.assistant.send("a fox", MODEL);
    expect(few.ending()).toEqual({ kind: "end", ending: { kind: "turns" } });
    const fewer = await scripted([asking], { bounds: { ...bounds, calls: 1 } });
    await fewer.assistant.send("a fox", MODEL);
    expect(calls).toHaveLength(5);
    expect(fewer.ending()).toEqual({ kind: "end", ending: { kind: "calls" } });
  });

  it("ends by the deadline, and when the user cancels; changes so far stay", async () => {
    const hang = (_question: Question, _purse: unknown, signal: AbortSignal): Promise<ModelAnswer> =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    const late = await scripted([], { ask: hang, bounds: { turns: 2, calls: 2, failures: 3, characters: 1_000, ms: 20 } });
    await late.assistant.send("a fox", MODEL);
    expect(late.ending()).toEqual({ kind: "end", ending: { kind: "deadline" } });

    let turns = 0;
    const cancelled = await scripted([], {
      ask: (question, purse, signal) => {
        turns += 1;
        if (turns === 1) return Promise.resolve(says(patch(FOX)));
        const answer = hang(question, purse, signal);
        cancelled.assistant.cancel();
        return answer;
      },
    });
    await cancelled.assistant.send("a fox", MODEL);
    expect(cancelled.ending()).toEqual({ kind: "end", ending: { kind: "cancelled" } });
    expect(cancelled.ids()).toEqual(["note", "fox"]);
    expect(cancelled.store.getState().isWorking).toBe(false);
  });

  it("says why the model failed, and takes the next request with what was said before", async () => {
    const failing = await scripted([], { ask: () => Promise.reject(new Error("the provider is down")) });
    await failing.assistant.send("a fox", MODEL);
    expect(failing.ending()).toEqual({ kind: "end", ending: { kind: "failed", message: "the provider is down" } });
    const { assistant, questions } = await scripted([DONE]);
    await assistant.send("a fox", MODEL);
    await assistant.send("a red one", MODEL);
    expect(questions[1]!.history).toEqual([
      { role: "user", content: "a fox" },
      { role: "assistant", content: "Done." },
    ]);
  });
});

describe("an answer of a chat model", () => {
  it.each([
    ["text", { text: "Hello" }, { text: "Hello", calls: [] }],
    ["nothing", {}, { text: "", calls: [] }],
    [
      "calls, without those that have no form",
      { json: { tool_calls: [call("a", {}), { id: 1 }, null] } },
      { text: "", calls: [expect.objectContaining({ function: { name: "a", arguments: "{}" } })] },
    ],
  ])("has %s", (_what, result, expected) => {
    expect(answerIn(result)).toEqual(expected);
  });
});
