import { DomainError, invalidInputs, itemKey, type RunPlan } from "@nodeloom/kernel";
import { executions, type billing } from "@nodeloom/proto";
import { checkBudget, createPricing, type PricingOptions } from "../../src/batches/pricing";
import type { PlannedRun, PlanningRequest } from "../../src/plan/planning";
import { itemsAtOnce } from "../../src/run/batch";

const step = (maxItems: number, itemLimit = maxItems, another?: number) => ({
  ...{ id: "pic", model: "painter", maxItems, itemLimit, maxMillicredits: 10 },
  ...(another === undefined ? {} : { fallback: [{ model: "other", maxMillicredits: another }] }),
});
const planned = (steps: object[]): PlannedRun =>
  ({ plan: { steps } as unknown as RunPlan, holds: [], workflowSlug: "flow", modelIds: [], inputsJson: "{}", version: 3 }) as PlannedRun;

const reruns: PricingOptions["reruns"] = {
  planningOf: ({ sources }, { inputsJson }) => Promise.resolve({ inputsJson, rerun: { sources } as never }),
};

/** Prices items whose inputs set the number of calls and its maximum. */
const price = (items: object[], remaining = 0) => {
  const plan = ({ inputsJson }: PlanningRequest): Promise<PlannedRun> => {
    const { calls, most, bad, another } = JSON.parse(inputsJson) as { calls: number; most?: number; bad?: string; another?: number };
    if (bad === "tier") throw new DomainError("forbidden", "MODEL_TIER_REQUIRED", "no");
    if (bad !== undefined) throw invalidInputs([{ path: "inputs.x", message: bad }]);
    return Promise.resolve(planned(calls === 0 ? [] : [step(calls, most, another)]));
  };
  const grants = [{ model: "painter", total: 3, remaining }];
  const getAccount = () => Promise.resolve({ account: { grants } } as billing.GetAccountResponse);
  const pricing = createPricing({ planning: { plan }, reruns, billing: { getAccount } });
  const order = {
    target: { $case: "workflowSlug" as const, value: "flow" },
    version: "",
    until: "",
    runner: executions.Runner.fromPartial({ userId: "u" }),
  };
  return pricing({ ...order, items: items.map((item) => ({ inputsJson: JSON.stringify(item), settingsJson: "" })) });
};

it("adds up the holds and the maximum cost of all items without trial grants, and keeps the priced version", async () => {
  const priced = await price([{ calls: 2 }, { calls: 1 }, { calls: 3 }], 4);
  expect(priced).toMatchObject({ estimated: 20, most: 20, isExact: true, isPlaceless: false, version: 3 });
  expect(priced.items.map((item) => item.price)).toEqual([20, 10, 30]);
  expect(priced.items.map(({ granted = 0 }) => granted)).toEqual([20, 10, 10]);
});

it("prices no calls that an earlier run made with equal inputs", async () => {
  const plan = ({ rerun }: PlanningRequest): Promise<PlannedRun> => {
    const reused = rerun && { free: new Set([itemKey("pic", 0)]), open: new Set<string>() };
    return Promise.resolve({ ...planned([step(1)]), ...(reused ? { reused: reused as PlannedRun["reused"] & object } : {}) });
  };
  const pricing = createPricing({ planning: { plan }, reruns, billing: { getAccount: () => Promise.resolve({}) } as never });
  const order = { target: { $case: "workflowSlug" as const, value: "flow" }, version: "", until: "" };
  const item = { inputsJson: "{}", settingsJson: "" };
  const items = [{ ...item, sources: ["earlier"] }, item];
  const priced = await pricing({ ...order, runner: executions.Runner.fromPartial({ userId: "u" }), items });
  expect(priced.items.map(({ price: paid }) => paid)).toEqual([0, 10]);
  expect(priced).toMatchObject({ estimated: 10, most: 10, isExact: true });
});

it("recognises inexact prices, and items that need no places", async () => {
  expect(await price([{ calls: 1 }, { calls: 1, most: 50 }])).toMatchObject({ isExact: false, estimated: 20, most: 510 });
  expect(await price([{ calls: 1 }, { calls: 1, most: 50 }], 2)).toMatchObject({ isExact: false, estimated: 0, most: 490 });
  expect(await price([{ calls: 0 }, { calls: 0 }])).toMatchObject({ isExact: true, isPlaceless: true, estimated: 0 });
});

it("prices calls at the most expensive of their models, like holds, and recognises that they can cost less", async () => {
  const priced = await price([{ calls: 2, another: 25 }]);
  expect(priced).toMatchObject({ estimated: 50, most: 50, isExact: false, items: [{ price: 50, most: 50 }] });
  expect(await price([{ calls: 2, another: 10 }])).toMatchObject({ estimated: 20, most: 20, isExact: true });
});

it("includes administrators' fallback models in holds, like runs, and isn't exact then", async () => {
  expect(await price([{ calls: 2, another: 25 }], 1)).toMatchObject({ estimated: 50, isExact: false });
  expect(await price([{ calls: 2, another: 10 }], 1)).toMatchObject({ estimated: 20, isExact: false });
  expect(await price([{ calls: 2, another: 0 }], 2)).toMatchObject({ estimated: 0 });
});

it("names every problem by the item that has it, in order", async () => {
  const items = Array.from({ length: 150 }, (_, index) => (index % 2 === 0 ? { calls: 1 } : { bad: `no ${index}` }));
  const refusal = await price(items).catch((error: unknown) => error as DomainError);
  expect(refusal).toMatchObject({ reason: "INVALID_INPUTS", metadata: { problems: 75 } });
  expect((refusal as DomainError).metadata.issues).toHaveLength(75);
  expect((refusal as DomainError).metadata.issues).toMatchObject([
    { index: 1, path: "inputs.x", message: "no 1" },
    { index: 3, path: "inputs.x", message: "no 3" },
    ...Array.from({ length: 73 }, (_, index) => ({ index: 5 + 2 * index })),
  ]);
});

it("names the node of a graph that can't run, once, in the error's message", async () => {
  const issues = [{ nodeId: "cut", path: "image", message: "image: is required" }];
  const plan = () => Promise.reject(new DomainError("precondition", "WORKFLOW_INVALID", "the workflow can't run", { issues }));
  const pricing = createPricing({ planning: { plan }, reruns, billing: { getAccount: () => Promise.resolve({}) } as never });
  const request = { target: { $case: "workflowSlug" as const, value: "flow" }, version: "", until: "" };
  const order = pricing({
    ...request,
    runner: executions.Runner.fromPartial({ userId: "u" }),
    items: [{ inputsJson: "{}", settingsJson: "" }],
  });
  await expect(order).rejects.toThrow("item 0: cut: image: is required");
});

it("prices all items with the graph of the first one", async () => {
  const graphs = ["as it is", "as it is changed meanwhile"];
  const seenGraphs: unknown[] = [];
  const plan = ({ pinned }: PlanningRequest): Promise<PlannedRun> => {
    seenGraphs.push(pinned?.graph.nodesJson);
    const graph = pinned?.graph ?? { nodesJson: graphs.shift()!, edgesJson: "[]", pinnedModels: {}, version: 0 };
    return Promise.resolve({ ...planned([]), pinned: { graph, inner: {} } });
  };
  const pricing = createPricing({ planning: { plan }, reruns, billing: { getAccount: () => Promise.resolve({}) } as never });
  const target = { $case: "workflowSlug" as const, value: "flow" };
  const items = Array.from({ length: 6 }, () => ({ inputsJson: "{}", settingsJson: "" }));
  const { pinned } = await pricing({ target, version: "", until: "", runner: executions.Runner.fromPartial({ userId: "u" }), items });
  expect(pinned?.graph.nodesJson).toBe("as it is");
  expect(seenGraphs).toEqual([undefined, ...Array.from({ length: 5 }, () => "as it is")]);
});

it("reports an error that concerns all items", async () => {
  await expect(price([{ calls: 1 }, { bad: "tier" }])).rejects.toMatchObject({ reason: "MODEL_TIER_REQUIRED" });
});

it("rejects a batch only if its expected cost exceeds its limit", async () => {
  const exact = await price([{ calls: 2 }, { calls: 2 }]);
  expect(() => checkBudget(exact, 39)).toThrow(expect.objectContaining({ reason: "INSUFFICIENT_CREDITS" }));
  checkBudget(exact, 40);
  checkBudget(exact, undefined);
  const open = await price([{ calls: 2, most: 50 }]);
  expect(() => checkBudget(open, 1)).toThrow(expect.objectContaining({ reason: "INSUFFICIENT_CREDITS" }));
  checkBudget(open, 20);
});

it.each([
  [{ isPlaceless: false, concurrency: 0 }, 10, 5],
  [{ isPlaceless: false, concurrency: 3 }, 10, 3],
  [{ isPlaceless: false, concurrency: 50 }, 10, 5],
  [{ isPlaceless: false, concurrency: 0 }, 1, 1],
  [{ isPlaceless: false, concurrency: 0 }, 0, 100],
  [{ isPlaceless: true, concurrency: 0 }, 1, 8],
])("lets %p of a tier with %i places run %i items at once", (batch, places, most) => {
  expect(itemsAtOnce(batch, places)).toBe(most);
});

it("reads the workflow once for a hundred thousand items, and prices each item on what was read", async () => {
  const definition = { alias: "production" } as PlannedRun["definition"];
  const pinned = { graph: {}, inner: {} } as PlannedRun["pinned"];
  let [readCount, reuseCount] = [0, 0];
  const plan = (request: PlanningRequest): Promise<PlannedRun> => {
    if (request.definition === undefined) readCount += 1;
    if (request.definition === definition && request.pinned === pinned) reuseCount += 1;
    return Promise.resolve({ ...planned([step(1)]), definition, pinned } as PlannedRun);
  };
  const getAccount = () => Promise.resolve({} as billing.GetAccountResponse);
  const pricing = createPricing({ planning: { plan }, reruns, billing: { getAccount } });
  const items = Array.from({ length: 100_000 }, () => ({ inputsJson: "{}", settingsJson: "" }));
  const runner = executions.Runner.fromPartial({ userId: "u" });
  const priced = await pricing({ target: { $case: "workflowSlug", value: "flow" }, version: "", until: "", runner, items });
  expect(priced.estimated).toBe(10 * items.length);
  expect([readCount, reuseCount]).toEqual([1, items.length - 1]);
});
