import type { Graph } from "@nodeloom/kernel";
import { createReuseWorld, planOf, quotedOf, type Asking } from "../support/reuse-world";

/** Random graphs, edited and rerun. `RANDOM_RERUNS=5000 npx jest services/executions/test/reuse` tries more. */
const RERUNS = Number(process.env.RANDOM_RERUNS ?? 120);

type Random = (below: number) => number;
/** Deterministic for a seed. */
const randomOf = (seed: number): Random => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

interface Kind {
  type: string;
  data: (random: Random) => Record<string, unknown>;
  inputs: string[];
  outputs: string[];
}
const LIST = (minItems?: number) => ({ type: "array", items: { type: "string" }, ...(minItems ? { minItems, maxItems: minItems } : {}) });
const KINDS: Kind[] = [
  { type: "text-box", data: (random) => ({ text: `{{a}} text ${random(4)}` }), inputs: ["a"], outputs: ["text"] },
  { type: "list", data: (random) => ({ items: ["red", "blue", "red"].slice(0, 1 + random(3)) }), inputs: ["items"], outputs: ["items"] },
  { type: "llm-assistant", data: () => ({ model: "chat", prompt: "say {{a}}" }), inputs: ["a"], outputs: ["text"] },
  {
    type: "llm-assistant",
    data: (random) => ({ model: "chat", prompt: "list {{a}}", schema: random(2) === 0 ? LIST(2) : LIST() }),
    inputs: ["a"],
    outputs: ["json"],
  },
  {
    type: "generate-image",
    data: (random) => ({ model: "pic", inputs: { prompt: `{{a}} ${random(3)}` } }),
    inputs: ["a"],
    outputs: ["image"],
  },
  { type: "generate-image", data: () => ({ model: "pic", inputs: { prompt: "paint" } }), inputs: ["image"], outputs: ["image"] },
  {
    type: "switch",
    data: (random) => ({ cases: [{ name: "yes", left: "{{a}}", op: "contains", right: String(random(10)) }] }),
    inputs: ["a", "value"],
    outputs: ["yes", "else"],
  },
  { type: "http-request", data: () => ({ url: "https://x.test/{{a}}", method: "GET" }), inputs: ["a"], outputs: ["body"] },
];

interface Output {
  source: string;
  sourceHandle: string;
}

const randomAsking = (random: Random): Asking => {
  const nodes: Graph["nodes"] = [
    { id: "in", type: "request-input", data: { fields: [{ name: "topic" }, { name: "words", type: "json" }] } },
  ];
  const edges: Record<string, unknown>[] = [];
  const outputs: Output[] = ["topic", "words"].map((sourceHandle) => ({ source: "in", sourceHandle }));
  for (let index = 0; index < 3 + random(5); index += 1) {
    const { type, data, inputs, outputs: ports } = KINDS[random(KINDS.length)]!;
    const id = `n${index}`;
    nodes.push({ id, type, data: data(random) });
    for (const targetHandle of inputs) {
      // A file's address inside a text differs between runs.
      const from = outputs.filter(({ sourceHandle }) => (sourceHandle === "image") === (targetHandle === "image"));
      if (from.length > 0) edges.push({ ...from[random(from.length)]!, target: id, targetHandle });
    }
    outputs.push(...ports.map((sourceHandle) => ({ source: id, sourceHandle })));
  }
  nodes.push({ id: "out", type: "response-output", data: {} });
  for (const [index, output] of outputs.entries())
    edges.push({ ...output, target: "out", targetHandle: output.sourceHandle === "image" ? "images" : `o${index}` });
  const graph = { nodes, edges: edges.map((edge, index) => ({ id: `e${index}`, ...edge })) } as unknown as Graph;
  return { graph, inputs: { topic: `topic ${random(3)}`, words: ["a", "b", "c"].slice(0, 1 + random(3)) } };
};

/** Changes an input, a text, or a list. */
const edited = ({ graph, inputs }: Asking, random: Random): Asking => {
  if (random(3) === 0) return { graph, inputs: { ...inputs, topic: `topic ${random(3)}` } };
  if (random(3) === 0) return { graph, inputs: { ...inputs, words: ["a", "c", "b", "d"].slice(0, 1 + random(4)) } };
  const nodes = graph.nodes.map((node) => {
    const kind = KINDS.find(({ type, data }) => type === node.type && Object.keys(data(random)).join() === Object.keys(node.data).join());
    return kind && random(2) === 0 ? { ...node, data: kind.data(random) } : node;
  });
  return { graph: { ...graph, nodes }, inputs };
};

interface Trial {
  isTried: boolean;
  isExact: boolean;
  savedMillicredits: number;
}

const tryOne = async (seed: number): Promise<Trial> => {
  const nothing = { isTried: false, isExact: false, savedMillicredits: 0 };
  const random = randomOf(seed);
  const first = randomAsking(random);
  const second = edited(first, random);
  const [world, fresh] = [createReuseWorld(), createReuseWorld()];
  const [firstPlan, freshPlan] = [planOf(first), planOf(second)];
  if (!firstPlan || !freshPlan) return nothing;
  await world.carry(firstPlan, "first");
  const whole = await fresh.carry(freshPlan, "fresh");

  // If an edit was undone, a rerun finds the calls of the whole chain.
  const chain = random(2) === 0;
  const sources = chain ? ["between", "first"] : ["first"];
  if (chain) {
    const between = edited(second, random);
    const planned = await world.plan(between, { sources: ["first"], again: [], requests: [] });
    if (!planned) return nothing;
    await world.carry(planned.plan, "between", planned.reuse);
  }
  const ids = second.graph.nodes.map(({ id }) => id);
  const again = random(4) === 0 ? [ids[random(ids.length)]!] : [];
  const requests = random(2) === 0 ? freshPlan.steps.filter(({ type }) => type === "http-request").map(({ id }) => id) : [];
  const knownContents = new Set(world.records.map(world.contentOf));
  const planned = await world.plan(second, { sources, again, requests });
  const rerun = await world.carry(planned!.plan, "rerun", planned!.reuse);

  expect(rerun.result).toEqual(whole.result);
  if (whole.result === undefined) return nothing;
  const paidCalls = fresh.records.filter(
    (record) => record.costMicroUsd > 0 && (again.includes(record.nodeId) || !knownContents.has(fresh.contentOf(record))),
  );
  expect(rerun.paid).toBe(paidCalls.length);
  const quoted = quotedOf(planned!);
  if (quoted.exact) expect(quoted.calls).toBe(rerun.paid);
  return { isTried: true, isExact: quoted.exact, savedMillicredits: whole.paid - rerun.paid };
};

it("returns the result of a fresh run, costs only changes, and is quoted at its cost if that is exact", async () => {
  const tried: Trial[] = [];
  for (let seed = 0; seed < RERUNS; seed += 1) {
    try {
      tried.push(await tryOne(seed));
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  const valid = tried.filter(({ isTried }) => isTried);
  // Enough cases must be valid reruns.
  expect(valid.length).toBeGreaterThan(RERUNS / 4);
  expect(valid.filter(({ savedMillicredits }) => savedMillicredits > 0).length).toBeGreaterThan(RERUNS / 10);
  expect(valid.filter(({ isExact, savedMillicredits }) => isExact && savedMillicredits > 0).length).toBeGreaterThan(RERUNS / 20);
});
