import { fieldsOf, INNER, type Graph, type GraphEdge, type GraphNode } from "./graph";
import { ENDS, KINDS, resultOf, type World } from "./kinds";
import { UPLOADED, type RandomGraph } from "./shapes";
import { DEAD, joined, NodeFailure, type Ports } from "./values";

/** A small interpreter of graphs that predicts the end of a run. */

export interface Expectation {
  /** Nodes that can end the run by failing; empty if it completes. */
  failing: ReadonlyMap<string, NodeFailure["code"]>;
  /** Nodes that run or are skipped, if the run completes. */
  statuses: Readonly<Record<string, "completed" | "skipped">>;
  result: Ports;
  calls: number;
}

const isOff = ({ data }: GraphNode): boolean => data.bypass === true;

/** Removes bypassed nodes. Each output gets the value of the input port with its name, or else of the first port. */
const withoutBypassed = ({ nodes, edges }: Graph): Graph => {
  const off = new Set(nodes.filter(isOff).map(({ id }) => id));
  const origins = (edge: GraphEdge): GraphEdge[] => {
    if (!off.has(edge.source)) return [edge];
    const into = edges.filter(({ target }) => target === edge.source);
    const port = into.find(({ targetHandle }) => targetHandle === edge.sourceHandle)?.targetHandle ?? into[0]?.targetHandle;
    return into
      .filter(({ targetHandle }) => targetHandle === port)
      .flatMap(origins)
      .map(({ source, sourceHandle }) => ({ ...edge, source, sourceHandle }));
  };
  return { nodes: nodes.filter(({ id }) => !off.has(id)), edges: edges.filter(({ target }) => !off.has(target)).flatMap(origins) };
};

/** Value at each port of a node: DEAD if no value reaches it, undefined for a missing input. */
const portsOf = (edges: readonly GraphEdge[], outputs: ReadonlyMap<string, Ports>): Ports => {
  const names = [...new Set(edges.map(({ targetHandle }) => targetHandle))];
  return Object.fromEntries(
    names.map((name) => {
      const values = edges.filter(({ targetHandle }) => targetHandle === name).map((edge) => outputs.get(edge.source)![edge.sourceHandle]);
      const living = values.filter((value) => value !== DEAD);
      return [name, living.length === 0 ? DEAD : joined(living)];
    }),
  );
};

/** Every output of a skipped node is dead. */
const SKIPPED: Ports = new Proxy({}, { get: () => DEAD });

interface Run {
  world: World;
  statuses: Record<string, "completed" | "skipped">;
  failing: Map<string, NodeFailure["code"]>;
}

/** Kinds in whose place other nodes run. */
const REPLACED: ReadonlySet<string> = new Set(["workflow", "loop"]);

/**
 * Runs a graph.
 * @param prefix prefix of node IDs
 * @returns values at its response-output
 */
const runGraph = (whole: Graph, { world, statuses, failing }: Run, prefix: string): Ports => {
  const { nodes, edges } = withoutBypassed(whole);
  const outputs = new Map<string, Ports>();
  const failed = new Set<string>();
  let result: Ports = {};
  for (const node of nodes) {
    const into = edges.filter(({ target }) => target === node.id);
    const id = prefix + node.id;
    // Nodes after a failure never run.
    if (node.type === "note" || into.some(({ source }) => failed.has(source))) {
      failed.add(node.id);
      continue;
    }
    const ports = portsOf(into, outputs);
    const isDead = Object.values(ports).includes(DEAD);
    if (node.type === "response-output") {
      result = ports;
      if (prefix === "") statuses[id] = "completed";
      continue;
    }
    if (!REPLACED.has(node.type)) statuses[id] = isDead ? "skipped" : "completed";
    try {
      const before = failing.size;
      const run: Run = { world, statuses, failing };
      const inner: World = {
        ...world,
        runInner: (one, innerInputs) => runInner(one, innerInputs, run, `${id}/`),
        runLoop: (one, innerInputs) => runLoop(one, innerInputs, run, id),
      };
      const isSkipped = isDead && !REPLACED.has(node.type);
      outputs.set(node.id, isSkipped ? SKIPPED : KINDS[node.type]!(node, ports, inner));
      if (failing.size > before) failed.add(node.id);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      failed.add(node.id);
      failing.set(id, error.code);
    }
  }
  return result;
};

/** Runs an inner workflow. Each field has the incoming value, or else the node's setting, or else its default. */
const runInner = (node: GraphNode, ports: Ports, run: Run, prefix: string): Ports => {
  const graph = INNER[node.data.slug as string]!;
  const literals = (node.data.inputs ?? {}) as Ports;
  const inputs = Object.fromEntries(
    fieldsOf(graph).map(({ name, default: usual }) => [name, [ports[name], literals[name], usual].find((value) => value !== undefined)]),
  );
  return runGraph(graph, { ...run, world: { ...run.world, inputs } }, prefix);
};

/** Ids of the nodes that run in place of an inner workflow. */
const innerIds = ({ nodes }: Graph, prefix: string): string[] =>
  nodes.flatMap(({ id, type, data }) => {
    if (type === "workflow") return innerIds(INNER[data.slug as string]!, `${prefix}${id}/`);
    return type === "note" || type === "response-output" ? [] : [prefix + id];
  });

/** Runs a loop: its turns one after the other. Turns after its end are skipped, or all if an input gets no value. */
const runLoop = (node: GraphNode, ports: Ports, run: Run, id: string): Ports => {
  const { slug, count, until, feedback } = node.data as { slug: string; count: number; until: string; feedback: Record<string, string> };
  const isDead = Object.values(ports).includes(DEAD);
  if (Object.keys(ports).length > 0) run.statuses[`${id}/0`] = isDead ? "skipped" : "completed";
  const before = run.failing.size;
  let inputs = ports;
  let outputs: Ports | undefined = isDead ? SKIPPED : undefined;
  for (let turn = 1; turn <= count; turn += 1) {
    const prefix = `${id}/${turn}`;
    if (outputs !== undefined) {
      for (const one of [prefix, ...innerIds(INNER[slug]!, `${prefix}/`)]) run.statuses[one] = "skipped";
      continue;
    }
    const result = runInner(node, inputs, run, `${prefix}/`);
    if (run.failing.size > before) return {};
    run.statuses[prefix] = "completed";
    if (turn === count || ENDS[until]!(result, turn)) outputs = { ...result, turns: turn };
    inputs = { ...ports, ...Object.fromEntries(Object.entries(feedback).map(([output, input]) => [input, result[output]])) };
  }
  return outputs!;
};

/** @param given inputs, with `UPLOADED` for files */
export const expectedOf = ({ graph, inputs: runInputs, decisions }: Pick<RandomGraph, "graph" | "inputs" | "decisions">): Expectation => {
  const inputs = Object.fromEntries(
    Object.entries(runInputs).map(([name, value]) => [name, value === UPLOADED ? { file: "image" } : value]),
  );
  const statuses: Expectation["statuses"] = {};
  const failing = new Map<string, NodeFailure["code"]>();
  const world: World = { inputs, decisions, counted: { calls: 0 }, runInner: () => ({}), runLoop: () => ({}) };
  const result = runGraph(graph, { world, statuses, failing }, "");
  return { failing, statuses, result: failing.size === 0 ? resultOf(result) : {}, calls: world.counted.calls };
};
