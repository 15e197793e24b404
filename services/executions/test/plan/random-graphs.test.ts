import {
  createInputCheck,
  GRAPH_BOUNDS,
  LIMITS,
  planRun,
  readGraph,
  shareTexts,
  type ModelTerms,
  type PlanResult,
  type RunPlan,
} from "@nodeloom/kernel";
import { GraphRun } from "../../src/run/graph-run";

/**
 * Large random graphs. `RANDOM_GRAPHS=2000 npx jest services/executions/test/plan/random-graphs` tries more, and prints CPU and heap per
 * hundred graphs. For exact heaps, run it under `node --expose-gc`.
 */
const DEFAULT_GRAPHS = 100;
const GRAPHS = Number(process.env.RANDOM_GRAPHS ?? DEFAULT_GRAPHS);

/** Deterministic for a seed. */
const randomOf = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

const inputSchema = { type: "object", properties: { prompt: { type: "string" }, count: { type: "integer", maximum: 4, default: 1 } } };
const PIC: ModelTerms = {
  internalName: "pic",
  modality: "image",
  providerKind: "http-polling",
  price: { basis: "image", microUsd: 1 },
  inputSchema,
  validate: createInputCheck(inputSchema),
};

type Random = (below: number) => number;
/** Large texts are rare, so that the graph stays small enough to be saved. */
const SIZES = [...Array.from({ length: 15 }, (_, index) => index * 100), 200_000];
const textOf = (random: Random): string => {
  const size = SIZES[random(SIZES.length)]!;
  const part = random(2) === 0 ? "{{a}}{{b}}" : "{{a}} some words {{c}} ";
  return random(4) === 0 ? part.repeat(Math.ceil(size / part.length)) : `${part}${"x".repeat(size)}`;
};
const KINDS: ((random: Random) => { type: string; data: Record<string, unknown>; inputs: string[]; output: string })[] = [
  (random) => ({ type: "text-box", data: { text: textOf(random) }, inputs: ["a", "b", "c"], output: "text" }),
  (random) => ({
    type: "list",
    data: { items: Array.from({ length: random(60) }, (_, index) => index) },
    inputs: ["items"],
    output: "items",
  }),
  () => ({ type: "json", data: { expression: "[@, @][] | [@, @]", value: [1] }, inputs: ["value"], output: "value" }),
  () => ({
    type: "http-request",
    data: { url: "https://x.test/{{a}}", method: "POST", body: "{{b}}" },
    inputs: ["a", "b"],
    output: "body",
  }),
  () => ({ type: "generate-image", data: { model: "pic", inputs: { prompt: "{{a}}", count: 4 } }, inputs: ["a"], output: "image" }),
];

const randomGraph = (seed: number): ReturnType<typeof readGraph> => {
  const random = randomOf(seed);
  const nodes: Record<string, unknown>[] = [
    { id: "in", type: "request-input", data: { fields: [{ name: "text" }, { name: "list", type: "json" }] } },
  ];
  const edges: Record<string, unknown>[] = [];
  const outputs = [
    { source: "in", sourceHandle: "text" },
    { source: "in", sourceHandle: "list" },
  ];
  for (let index = 0; nodes.length < LIMITS.nodes - 1; index += 1) {
    const { type, data, inputs, output } = KINDS[random(seed % 3 === 0 ? 3 : KINDS.length)]!(random);
    const id = `n${index}`;
    nodes.push({ id, type, data });
    const targetNames = type === "text-box" ? inputs.filter((name) => String(data.text).includes(`{{${name}}}`)) : inputs;
    for (const targetHandle of targetNames)
      if (edges.length < LIMITS.edges - 10) edges.push({ ...outputs[random(outputs.length)]!, target: id, targetHandle });
    outputs.push({ source: id, sourceHandle: output });
  }
  nodes.push({ id: "out", type: "response-output" });
  for (let index = 0; index < 10; index += 1)
    edges.push({ ...outputs[random(outputs.length)]!, target: "out", targetHandle: `o${index % 3}` });
  return readGraph(JSON.stringify(nodes), JSON.stringify(edges));
};

const LONGEST_TEXT = 6 * LIMITS.textValueBytes;
const plan = (seed: number): PlanResult =>
  planRun({
    graph: randomGraph(seed),
    inputs: new Map<string, unknown>([
      ["text", "x".repeat(seed % 2 === 0 ? 250_000 : 20)],
      ["list", Array.from({ length: seed % 5 === 0 ? 50 : 3 }, (_, index) => index)],
    ]),
    models: new Map([["pic", PIC]]),
    media: new Map(),
    markupPermille: 1_500,
  });

/** Runs a plan with answers of maximum size. Returns true if a bound ended it. */
const runs = (planned: RunPlan): boolean => {
  const run = new GraphRun(planned);
  const doneIds = new Set(planned.evaluated.map(({ id }) => id));
  try {
    for (const step of planned.steps) {
      run.start(step, 0);
      if (step.type === "http-request") {
        const { items } = run.bind(step);
        for (const item of items) run.inputs.ofRequest(step, item);
        run.give(
          step.id,
          "body",
          items.map(() => "y".repeat(LIMITS.textValueBytes)),
        );
      } else if (step.model !== undefined) {
        const { items } = run.bind(step);
        for (const item of items) run.inputs.ofCall(step, item);
        run.give(
          step.id,
          "image",
          items.map(() => ({ url: "https://m.test/x.png", contentType: "image/png" })),
        );
      } else run.evaluate(step);
      run.complete(step.id, 0);
      doneIds.add(step.id);
    }
    return run.end(undefined).error !== null;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "BindError") throw error;
    return true;
  }
};

const FIGURES_EVERY = 100;
const MEGABYTE = 1024 * 1024;
const figures: string[] = [];
let usedBefore = process.cpuUsage();
const noteFigures = (tried: number): void => {
  if (GRAPHS <= DEFAULT_GRAPHS || tried % FIGURES_EVERY !== 0) return;
  (globalThis as { gc?: () => void }).gc?.();
  const { user, system } = process.cpuUsage(usedBefore);
  const megabytes = process.memoryUsage().heapUsed / MEGABYTE;
  figures.push(`${tried} graphs: ${((user + system) / 1e3 / FIGURES_EVERY).toFixed(1)} ms CPU each, heap ${megabytes.toFixed(0)} MB`);
  usedBefore = process.cpuUsage();
};
afterAll(() => {
  if (figures.length > 0) process.stdout.write(`${figures.join("\n")}\n`);
});

describe.each(Array.from({ length: Math.ceil(GRAPHS / 20) }, (_, index) => index * 20))("random graphs from seed %i on", (first) => {
  it("stay within the limits of a run, and so do their plans", () => {
    for (let seed = first; seed < Math.min(first + 20, GRAPHS); seed += 1) {
      const planned = plan(seed);
      expect(planned.used.valueBytes).toBeLessThanOrEqual(GRAPH_BOUNDS.valueBytes + LONGEST_TEXT + GRAPH_BOUNDS.listBytes);
      expect(planned.used.work).toBeLessThanOrEqual(GRAPH_BOUNDS.work * 2);
      expect(planned.used.calls).toBeLessThanOrEqual(GRAPH_BOUNDS.calls + GRAPH_BOUNDS.listItems);
      expect(planned.issues.length).toBeLessThanOrEqual(GRAPH_BOUNDS.issues);
      if (!planned.plan) continue;
      expect(JSON.stringify(planned.plan).length).toBeLessThan(16_000_000);
      runs(JSON.parse(JSON.stringify(shareTexts(planned.plan))) as RunPlan);
    }
    noteFigures(first + 20);
  });
});
