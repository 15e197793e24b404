import {
  anyInput,
  FLOWS,
  inputPorts,
  isFileType,
  makesCalls,
  makesResult,
  outputPorts,
  type GraphNode,
  type JsonSchema,
  waitsForDecision,
  type PortType,
} from "@nodeloom/kernel/graph";
import { kindOf } from "./kinds";
import { edgesOf, nodesOf, type DocEdge, type DocGraph, type DocNode } from "../document/graph";

export interface Port {
  name: string;
  type: PortType;
  /** True if the port takes or returns a whole list. */
  list: boolean;
  /** Use of an input: required by calls, shown on the node, or rarely set. */
  need?: "required" | "shown" | "rare";
  /** Type of an output of any type in the current graph. */
  carries?: PortType;
  /** True for a text output whose text is written in the node and is the address of a file. */
  isAddress?: boolean;
}

/** Rare settings, which aren't linked automatically. */
export const RARE_INPUTS: ReadonlySet<string> = new Set(["sandbox", "seed", "temperature", "maxTokens"]);

export interface NodePorts {
  /** Inputs on the node: used ones, files, placeholders and required ones. */
  inputs: readonly Port[];
  outputs: readonly Port[];
  /** All inputs that accept a link. */
  allInputs: readonly Port[];
  /** Names of linked inputs. */
  wired: ReadonlySet<string>;
  /** JSON Schema of the settings, if the model or operation has one. */
  schema?: JsonSchema | undefined;
}

/** Ports that models define. */
export interface PortRules {
  schemaOf: (node: GraphNode) => JsonSchema | undefined;
  /** Names of the members of a model's result. */
  resultsOf: (node: GraphNode) => readonly string[] | undefined;
}

const RESULT_NAMES = ["images", "videos", "audios", "models3d", "text"] as const;
const ALWAYS_SHOWN: ReadonlySet<string> = new Set(["prompt", "system", "value", "items", "body", "text"]);

const requiredOf = (schema: JsonSchema | undefined): ReadonlySet<string> =>
  new Set(Array.isArray(schema?.required) ? (schema.required as unknown[]).filter((name) => typeof name === "string") : []);

const resultPort = (node: GraphNode, name: string): Port => {
  const { type, list } = anyInput(node, name) ?? { type: "any" as const, list: true };
  return { name, type: name === "text" ? "text" : type, list };
};

/** A port that an edge names and the node may lack. */
const strayPort = (name: string): Port => ({ name, type: "any", list: false });

const inputsOf = (node: GraphNode, schema: JsonSchema | undefined, wired: readonly string[]): { visible: Port[]; all: Port[] } => {
  if (makesResult(node.type)) {
    const ports = [...new Set([...wired, ...RESULT_NAMES])].map((name) => resultPort(node, name));
    return { visible: ports, all: ports };
  }
  const declared = new Set(isRecord(schema?.properties) ? Object.keys(schema.properties) : []);
  const required = requiredOf(schema);
  const needOf = (name: string, type: PortType): Port["need"] => {
    if (required.has(name)) return "required";
    if (declared.has(name) && RARE_INPUTS.has(name)) return "rare";
    return !declared.has(name) || isFileType(type) || ALWAYS_SHOWN.has(name) ? "shown" : undefined;
  };
  const all = [...inputPorts(node, schema)].map(([name, port]): Port => {
    const need = needOf(name, port.type);
    return { name, type: port.type, list: port.list, ...(need === undefined ? {} : { need }) };
  });
  const portNames = new Set(all.map(({ name }) => name));
  const shownPorts = all.filter(({ name, need }) => wired.includes(name) || need === "required" || need === "shown");
  return { visible: [...shownPorts, ...wired.filter((name) => !portNames.has(name)).map(strayPort)], all };
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const ADDRESS = /^https?:\/\/\S+$/;

/** Text of an output that the node defines: the text written on it, or an input's default. */
const writtenText = ({ type, data }: GraphNode, output: string): unknown => {
  const { writes } = kindOf(type);
  const field = (Array.isArray(data.fields) ? (data.fields as unknown[]) : []).find((one) => isRecord(one) && one.name === output);
  if (isRecord(field)) return field.default;
  return writes && !writes.isList && !makesCalls(type) ? data[writes.setting] : undefined;
};

const givesAddress = (node: GraphNode, output: string): boolean => {
  const text = writtenText(node, output);
  return typeof text === "string" && ADDRESS.test(text.trim());
};

/** Ports of a node, including those named by edges. */
export const portsOf = (
  node: GraphNode,
  { schemaOf, resultsOf }: PortRules,
  wiredIn: readonly string[],
  wiredOut: readonly string[],
): NodePorts => {
  const schema = schemaOf(node);
  const { visible, all } = inputsOf(node, schema, wiredIn);
  const knownPorts = [...outputPorts(node, resultsOf(node))].map(([name, type]): Port => ({
    name,
    type,
    list: kindOf(node.type).givesLists?.(node.data) === true,
    ...(type === "text" && givesAddress(node, name) ? { isAddress: true } : {}),
  }));
  const names = new Set(knownPorts.map(({ name }) => name));
  const outputs = [...knownPorts, ...wiredOut.filter((name) => !names.has(name)).map(strayPort)];
  return { inputs: visible, outputs, allInputs: all, wired: new Set(wiredIn), schema };
};

/** Port at the end of an edge: the named one, else the node's default. */
export const targetPort = (edge: Pick<DocEdge, "targetHandle" | "sourceHandle">, ports: NodePorts | undefined): string =>
  edge.targetHandle ?? ports?.inputs.find(({ name }) => ALWAYS_SHOWN.has(name))?.name ?? ports?.inputs[0]?.name ?? edge.sourceHandle ?? "";
export const sourcePort = (edge: Pick<DocEdge, "sourceHandle">, ports: NodePorts | undefined): string =>
  edge.sourceHandle ?? ports?.outputs[0]?.name ?? "";

/** True for text linked to a picture, video or sound input. Only a text that is known to be an address can be used as a file. */
export const isWordsForFile = (output: Port, input: Port): boolean =>
  (output.carries ?? output.type) === "text" && isFileType(input.type) && output.isAddress !== true;

/** Stricter than a run, which reads a text as an address and fails if it isn't one. */
export const fits = (output: Port, input: Port): boolean => FLOWS[output.type][input.type] !== "refused" && !isWordsForFile(output, input);

const NEEDS = { required: 3, shown: 2, rare: -1 } as const;

/** Score of an input for a link: similarity of type plus need. Type `any` doesn't match. */
const rank = (output: Port, input: Port): number => {
  const type = output.carries ?? output.type;
  const flow = FLOWS[type][input.type];
  const same = type === input.type && type !== "any";
  const fit = same ? 4 : input.type === "any" ? 0 : flow === "allowed" ? 3 : flow === "converted" ? 2 : 1;
  return fit * 2 + (input.need === undefined ? 0 : NEEDS[input.need] * 2) + (ALWAYS_SHOWN.has(input.name) ? 1 : 0);
};

/** Inputs that accept a link from this output, best first. Unused inputs precede used ones. */
export const allFittingInputs = (output: Port, ports: NodePorts, used: ReadonlySet<string>): Port[] =>
  [...new Map([...ports.inputs, ...ports.allInputs].map((port) => [port.name, port])).values()]
    .filter((input) => fits(output, input))
    .sort((a, b) => Number(used.has(a.name) && !a.list) - Number(used.has(b.name) && !b.list) || rank(output, b) - rank(output, a));

/** Inputs for automatic links. */
export const fittingInputs = (output: Port, ports: NodePorts, used: ReadonlySet<string>): Port[] =>
  allFittingInputs(output, ports, used).filter(({ need }) => need !== "rare");

export const fittingOutputs = (input: Port, ports: NodePorts): Port[] =>
  ports.outputs.filter((output) => fits(output, input)).sort((a, b) => rank(b, input) - rank(a, input));

/** An approval's output has the type of its input. */
const createCarrying = () => {
  const portsByOwn = new WeakMap<NodePorts, Map<PortType, NodePorts>>();
  return (node: DocNode, own: NodePorts, graph: DocGraph, book: ReadonlyMap<string, NodePorts>): NodePorts => {
    const edge = edgesOf(graph).find(({ target }) => target === node.id);
    const from = edge && book.get(edge.source);
    const output = from?.outputs.find(({ name }) => name === sourcePort(edge!, from));
    const type = output?.carries ?? output?.type ?? "any";
    if (type === "any") return own;
    const byType = portsByOwn.get(own) ?? new Map<PortType, NodePorts>();
    portsByOwn.set(own, byType);
    const ports = byType.get(type) ?? { ...own, outputs: own.outputs.map((port) => ({ ...port, carries: type })) };
    byType.set(type, ports);
    return ports;
  };
};

/** Ports of every node, cached while node, schema and links are unchanged. */
export const createPortBook = () => {
  const portsByNode = new WeakMap<
    DocNode,
    { key: string; schema: JsonSchema | undefined; results: readonly string[] | undefined; ports: NodePorts }
  >();
  const carrying = createCarrying();
  return (graph: DocGraph, rules: PortRules): ReadonlyMap<string, NodePorts> => {
    const wires = new Map<string, { into: Set<string>; out: Set<string> }>();
    const of = (id: string) => {
      const nodeWires = wires.get(id) ?? { into: new Set<string>(), out: new Set<string>() };
      wires.set(id, nodeWires);
      return nodeWires;
    };
    for (const { source, target, sourceHandle, targetHandle } of edgesOf(graph)) {
      if (sourceHandle !== null) of(source).out.add(sourceHandle);
      if (targetHandle !== null) of(target).into.add(targetHandle);
    }
    const book = new Map<string, NodePorts>();
    for (const node of graph.nodes) {
      if ("stranger" in node) continue;
      const { into, out } = of(node.id);
      const key = `${[...into].join("\n")}\n\n${[...out].join("\n")}`;
      const [schema, results] = [rules.schemaOf(node), rules.resultsOf(node)];
      const before = portsByNode.get(node);
      const isSame = before?.key === key && before.schema === schema && before.results === results;
      const ports = isSame ? before.ports : portsOf(node, rules, [...into], [...out]);
      portsByNode.set(node, { key, schema, results, ports });
      book.set(node.id, ports);
    }
    for (const node of nodesOf(graph)) if (waitsForDecision(node.type)) book.set(node.id, carrying(node, book.get(node.id)!, graph, book));
    return book;
  };
};
export type PortBook = ReturnType<ReturnType<typeof createPortBook>>;
