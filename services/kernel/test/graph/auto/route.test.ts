import { chooseRoute, planRun, routeProblems, type CandidatePrice, type RouteCandidate, type TaskRoute } from "../../../src";
import { graphOf, model, schema } from "../../support";

const candidate = (name: string, part: Partial<RouteCandidate> = {}): RouteCandidate => ({
  ...{ model: name, calls: 0, errorRate: null, p50Ms: null, isUnavailable: false, isStandIn: false },
  ...part,
});
const nodeOf = (data: Record<string, unknown>) => ({ id: "pic", type: "generate-image", data: { model: "auto:image", ...data } });
const priced = (prices: Record<string, number>): ReadonlyMap<string, CandidatePrice> =>
  new Map(Object.entries(prices).map(([name, millicredits]) => [name, { millicredits }]));
const choose = (
  data: Record<string, unknown>,
  candidates: RouteCandidate[],
  more: { prices?: ReadonlyMap<string, CandidatePrice>; earlierModel?: string; none?: string } = {},
) => {
  const { none, ...rest } = more;
  const route: TaskRoute = { candidates, ...(none === undefined ? {} : { none }) };
  return chooseRoute({ node: nodeOf(data), route, ...rest });
};
const reasons = (choice: ReturnType<typeof choose>): string[] =>
  "problem" in choice ? [choice.problem] : choice.considered.map(({ model: name, reason }) => `${name}: ${reason}`);

const ALL = [
  candidate("first", { calls: 20, p50Ms: 900, errorRate: 0 }),
  candidate("second", { calls: 20, p50Ms: 300, errorRate: 0.1 }),
  candidate("third", { calls: 1 }),
];
const PRICES = priced({ first: 3_000, second: 2_000, third: 1_000 });

describe("the model of a node that names a task", () => {
  it("is the first in the order without settings, and the choice names the others with prices and measures", () => {
    expect(choose({}, ALL, { prices: PRICES })).toEqual({
      chosen: "first",
      considered: [
        { model: "first", millicredits: 3_000, p50Ms: 900, errorRate: 0, reason: "the first in the order" },
        { model: "second", millicredits: 2_000, p50Ms: 300, errorRate: 0.1, reason: "comes later in the order" },
        { model: "third", millicredits: 1_000, p50Ms: null, errorRate: null, reason: "comes later in the order" },
      ],
    });
  });

  it.each([
    ["cheapest", ["third: the cheapest", "second: costs more", "first: costs more"]],
    ["fastest", ["second: the fastest", "first: is slower", "third: too few calls in the last day to know its speed"]],
    ["best", ["first: the first in the order that works", "second: comes later in the order", "third: comes later in the order"]],
  ])("is the %s if the node prefers that", (prefer, expected) => {
    expect(reasons(choose({ prefer }, ALL, { prices: PRICES }))).toEqual(expected);
  });

  it("is the first in the order if no speed is known", () => {
    expect(reasons(choose({ prefer: "fastest" }, ALL.slice(2).concat(candidate("fourth"))))).toEqual([
      "third: the first in the order: too few calls to know the fastest",
      "fourth: comes later in the order",
    ]);
  });

  it("takes the first in the order of equal models", () => {
    expect(choose({ prefer: "cheapest" }, ALL, { prices: priced({ first: 5, second: 5, third: 5 }) })).toMatchObject({ chosen: "first" });
  });

  it("is one that `allow` names; unknown names have a reason", () => {
    expect(reasons(choose({ prefer: "cheapest", allow: ["first", "gone"] }, ALL, { prices: PRICES }))).toEqual([
      "first: the only one that can run",
      "second: isn't in allow",
      "third: isn't in allow",
      "gone: isn't an enabled model for auto:image",
    ]);
  });

  it("never costs more than `maxCredits`", () => {
    expect(reasons(choose({ maxCredits: 2 }, ALL, { prices: PRICES }))).toEqual([
      "second: the first in the order",
      "third: comes later in the order",
      "first: one call can cost 3 credits, more than maxCredits (2)",
    ]);
  });

  it("comes from a provider that answers, and doesn't fail often if the node has a preference", () => {
    const some = [candidate("away", { isUnavailable: true }), candidate("flaky", { calls: 10, errorRate: 0.6 }), candidate("good")];
    expect(reasons(choose({ prefer: "best" }, some))).toEqual([
      "good: the first in the order that works",
      "flaky: 60 % of its last calls failed",
      "away: its provider doesn't answer at the moment",
    ]);
    expect(choose({}, some)).toMatchObject({ chosen: "flaky" });
    expect(choose({}, some.slice(0, 1))).toMatchObject({ chosen: "away" });
  });

  it("stands in only if no other model is ready, or if `allow` names it", () => {
    const some = [candidate("real"), candidate("stand-in", { isStandIn: true })];
    const prices = priced({ real: 5_000, "stand-in": 1 });
    expect(reasons(choose({ prefer: "cheapest" }, some, { prices }))).toEqual([
      "real: the only one that can run",
      "stand-in: only stands in: it is no AI",
    ]);
    expect(choose({ prefer: "cheapest", allow: ["real", "stand-in"] }, some, { prices })).toMatchObject({ chosen: "stand-in" });
    expect(reasons(choose({ maxCredits: 1 }, some, { prices }))[0]).toContain("stand-in: only stands in");
    expect(choose({}, some.slice(1))).toMatchObject({ chosen: "stand-in" });
  });

  it("is the earlier run's, as long as that can run", () => {
    expect(reasons(choose({ prefer: "cheapest" }, ALL, { prices: PRICES, earlierModel: "second" }))).toEqual([
      "second: kept from the earlier run",
      "third: the earlier run had another model",
      "first: costs more",
    ]);
    expect(choose({ prefer: "cheapest", maxCredits: 2 }, ALL, { prices: PRICES, earlierModel: "first" })).toMatchObject({
      chosen: "third",
    });
    expect(choose({}, ALL, { earlierModel: "gone" })).toMatchObject({ chosen: "first" });
  });

  it("is missing with a reason for each model, or with the next step if no model of the task is ready", () => {
    const some = [candidate("dear"), candidate("unfit"), candidate("paid", { excluded: "needs the pro tier or a higher one" })];
    const prices = new Map([...priced({ dear: 9_000 }), ["unfit", { problem: "ratio: must be one of 1:1" }] as const]);
    expect(choose({ maxCredits: 1 }, some, { prices })).toEqual({
      problem:
        "no model for auto:image can run: dear: one call can cost 9 credits, more than maxCredits (1); unfit: ratio: must be one of 1:1; paid: needs the pro tier or a higher one. Change the node's settings, make one of them ready, connect a model server, or choose another model",
    });
    expect(choose({ maxCredits: 1 }, some.slice(0, 1), { prices })).toEqual({
      problem:
        "no model for auto:image can run: dear: one call can cost 9 credits, more than maxCredits (1). Change the node's settings, or choose another model",
    });
    expect(choose({}, [], { none: "no model for auto:image is ready: add a key" })).toEqual({
      problem: "no model for auto:image is ready: add a key",
    });
  });

  it("is missing with at most three models named, however many there are", () => {
    const keyless = Array.from({ length: 15 }, (_, index) =>
      candidate(`model-${index}`, { excluded: `isn't ready: add KEY_${index % 4} under Models` }),
    );
    const allow = keyless.map(({ model }) => model);
    expect(choose({ allow }, [...keyless, candidate("small")])).toEqual({
      problem:
        "no model for auto:image can run: model-0 and 3 more: isn't ready: add KEY_0 under Models; model-1 and 3 more: isn't ready: add KEY_1 under Models; model-2 and 3 more: isn't ready: add KEY_2 under Models; 3 more have other reasons. Make one of them ready, connect a model server, or choose another model",
    });
  });
});

it.each([
  [{ prefer: "best", allow: ["a"], maxCredits: 0.5 }, []],
  [{ prefer: null, allow: null, maxCredits: null }, []],
  [{ prefer: "quickest" }, ["prefer: must be one of cheapest, fastest, best"]],
  [{ allow: [] }, ["allow: must be a list of models' names"]],
  [{ allow: "a" }, ["allow: must be a list of models' names"]],
  [{ allow: ["auto:image"] }, ["allow: auto:image is a task; only models can be named here"]],
  [{ allow: Array.from({ length: 21 }, (_, index) => `m${index}`) }, ["allow: names 21 models, at most 20 are allowed"]],
  [{ maxCredits: 0 }, ["maxCredits: must be a number above 0"]],
  [{ maxCredits: "1" }, ["maxCredits: must be a number above 0"]],
])("reports invalid settings: %j", (data, problems) => {
  expect(routeProblems(nodeOf(data))).toEqual(problems);
});

it("rejects a call that can cost more than the node's `maxCredits`, also if the caller chose the model", () => {
  const [name, terms] = model("painter", "image", { basis: "image", microUsd: 20_000 }, schema({ count: { type: "integer", maximum: 4 } }));
  const plan = (data: Record<string, unknown>) =>
    planRun({
      graph: graphOf([{ id: "pic", type: "generate-image", data: { model: name, prompt: "a boat", ...data } }], []),
      inputs: new Map(),
      models: new Map([[name, terms]]),
      media: new Map(),
      markupPermille: 1_000,
    });
  expect(plan({ count: 2, maxCredits: 4 }).issues).toEqual([]);
  expect(plan({ count: 3, maxCredits: 4 }).issues).toMatchObject([
    { nodeId: "pic", code: "LIMIT_EXCEEDED", message: "one call of painter can cost 6 credits, more than maxCredits (4)" },
  ]);
});
