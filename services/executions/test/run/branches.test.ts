import { planRun, readGraph, type RunPlan } from "@nodeloom/kernel";
import fc from "fast-check";
import { GraphRun } from "../../src/run/graph-run";

type Node = { id: string; type: string; data: Record<string, unknown> };
type Edge = { id: string; source: string; sourceHandle: string; target: string; targetHandle: string };

const SIZES = 4;

/** A node of a random graph: a switch by size, or a text that lists its inputs. `from` selects the outputs that are linked to it. */
interface RandomNode {
  isSwitch: boolean;
  limit: number;
  from: number[];
}

const graphOf = (shapes: readonly RandomNode[], results: readonly number[], source: Node, output: string): ReturnType<typeof readGraph> => {
  const nodes: Node[] = [source];
  const edges: Edge[] = [];
  const outputs: [string, string][] = [[source.id, output]];
  const connect = ([from, sourceHandle]: [string, string], target: string, targetHandle: string): void =>
    void edges.push({ id: `e${edges.length}`, source: from, sourceHandle, target, targetHandle });
  const pick = (at: number): [string, string] => outputs[at % outputs.length]!;
  shapes.forEach(({ isSwitch, limit, from }, index) => {
    const id = `n${index}`;
    const cases = [{ name: "low", left: "{{size}}", op: "less", right: String(limit) }];
    nodes.push(isSwitch ? { id, type: "switch", data: { cases } } : { id, type: "text-box", data: { text: `${id}({{a}})` } });
    for (const at of new Set(from.map((one) => one % outputs.length))) connect(pick(at), id, isSwitch ? "value" : "a");
    if (isSwitch) connect([source.id, output], id, "size");
    outputs.push(...(isSwitch ? ["low", "else"] : ["text"]).map((port): [string, string] => [id, port]));
  });
  nodes.push({ id: "out", type: "response-output", data: {} });
  results.forEach((at, index) => connect(pick(at), "out", `r${index % 2}`));
  return readGraph(JSON.stringify(nodes), JSON.stringify(edges));
};

const planOf = (graph: ReturnType<typeof readGraph>, size: number): RunPlan => {
  const { plan, issues } = planRun({
    graph,
    inputs: new Map([["size", size]]),
    models: new Map(),
    media: new Map(),
    markupPermille: 1_000,
  });
  if (!plan) throw new Error(JSON.stringify(issues));
  return plan;
};

/** Runs a plan step by step; the HTTP request returns the size. */
const runOf = (plan: RunPlan, size: number): { skipped: string[]; result: unknown } => {
  const run = new GraphRun(plan);
  const doneIds = new Set(run.nodes.filter(({ status }) => status !== "pending").map(({ id }) => id));
  const started = new Set<string>();
  for (let ready = run.readyAfter(doneIds, started); ready.length > 0; ready = run.readyAfter(doneIds, started))
    for (const step of ready) {
      started.add(step.id);
      run.start(step, 0);
      if (step.type === "http-request") run.give(step.id, "body", size);
      else run.evaluate(step);
      run.complete(step.id, 0);
      doneIds.add(step.id);
    }
  const { status, result } = run.end(undefined);
  expect(status).toBe("completed");
  const skipped = run.nodes.filter(({ status }) => status === "skipped").map(({ id }) => id);
  return { skipped: skipped.sort(), result };
};

it("skips the same nodes and returns the same result, whether switches are decided during planning or by the run", () => {
  const shape = fc.record({
    isSwitch: fc.boolean(),
    limit: fc.integer({ min: 0, max: SIZES }),
    from: fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }),
  });
  const property = fc.property(
    fc.array(shape, { minLength: 1, maxLength: 12 }),
    fc.array(fc.nat(30), { minLength: 1, maxLength: 4 }),
    fc.integer({ min: 0, max: SIZES }),
    (nodes, results, size) => {
      const field: Node = { id: "s", type: "request-input", data: { fields: [{ name: "size", type: "number" }] } };
      const request: Node = { id: "s", type: "http-request", data: { url: "https://sizes.test/" } };
      const knownPlan = planOf(graphOf(nodes, results, field, "size"), size);
      expect(knownPlan.steps).toEqual([]);
      const decided = runOf(knownPlan, size);
      expect(runOf(planOf(graphOf(nodes, results, request, "body"), size), size)).toEqual(decided);
    },
  );
  fc.assert(property, { numRuns: 300 });
});
