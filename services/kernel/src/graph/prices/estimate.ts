import { groupBy } from "../../group-by";
import { millicreditsFor } from "../../credits/money";
import { isGeneratorType, kindOf } from "../kinds";
import { givenMaxItems, mostItems } from "../plan/max-items";
import { withoutBypassed } from "../wiring/bypass";
import { literalInputs } from "../wiring/ports";
import { savedFlow, type SavedFlow } from "./saved-flow";
import { characterCount, PRICED_INPUTS, worstCaseMicroUsd, type JsonSchema, type Price } from "./price";
import type { Graph, GraphEdge, GraphNode } from "../types";

/** Properties of a generator node that affect its estimated price. */
export interface GeneratorUse {
  nodeId: string;
  /** The model's internalName; empty if none is chosen yet. */
  model: string;
  /** Inputs that affect prices: numbers and names (from literals and from known values on edges), and the prompt's length. */
  inputs: Record<string, unknown>;
  /** Number of calls estimated from the saved graph. Lists on edges multiply it. */
  items: number;
}

/** A text that is a name, such as a size. Prose and templates don't match. */
const NAME = /^[\w:.*/+-]{1,40}$/;

/** Values that can affect prices. Prompts are excluded, however short. */
const priceable = (entries: readonly [string, unknown][]): Record<string, unknown> =>
  Object.fromEntries(
    entries.filter(
      ([name, value]) =>
        typeof value === "number" ||
        typeof value === "boolean" ||
        (typeof value === "string" && name !== PRICED_INPUTS.characters && NAME.test(value)),
    ),
  );

/** Never the name of an input, because schemas don't allow a colon in names. */
const PROMPT_CHARACTERS = "prompt: characters";

/** Length of a node's prompt, estimated from the saved graph. A connected value replaces the node's own text. */
const promptCharacters = (literals: Readonly<Record<string, unknown>>, flows: readonly [string, unknown][]): Record<string, number> => {
  const wired = flows.filter(([name]) => name === PRICED_INPUTS.characters);
  const [, prompt] = wired[0] ?? [PRICED_INPUTS.characters, literals[PRICED_INPUTS.characters]];
  return typeof prompt === "string" && wired.length <= 1 ? { [PROMPT_CHARACTERS]: characterCount(prompt) } : {};
};

/**
 * Counts values on edges from saved literals and defaults only. An unknown value counts as one. A list of unknown length counts as the
 * `maxItems` of its target.
 */
const createCounter = ({ graph, valueOf }: SavedFlow) => {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const incoming = groupBy(graph.edges, ({ target }) => target);
  const knownCounts = new Map<string, number>();
  const open = new Map<string, boolean>();

  const flowing = (edge: GraphEdge): number => {
    const value = valueOf(edge);
    return Array.isArray(value) ? value.length : outputs(edge.source);
  };

  const isOpenEdge = (edge: GraphEdge): boolean => {
    const from = nodes.get(edge.source);
    if (!from) return false;
    return (valueOf(edge) === undefined && kindOf(from.type)?.savedOpen?.(from, edge.sourceHandle)) || isOpen(from.id);
  };
  const takesOpen = (id: string): boolean => (incoming.get(id) ?? []).some(isOpenEdge);

  /** True if the number of a node's output values is unknown until the run. */
  const isOpen = (id: string): boolean => {
    const counted = open.get(id);
    if (counted !== undefined) return counted;
    open.set(id, false);
    const node = nodes.get(id);
    const is = node !== undefined && givenMaxItems(node) === undefined && takesOpen(id);
    open.set(id, is);
    return is;
  };

  /** Number of calls of a node: the length of the longest list at its ports. Known lengths take precedence over unknown ones. */
  const calls = (id: string): number => {
    const ports = new Map<string | null, { count: number; isOpen: boolean }>();
    for (const edge of incoming.get(id) ?? []) {
      const port = ports.get(edge.targetHandle) ?? { count: 0, isOpen: false };
      ports.set(edge.targetHandle, { count: port.count + flowing(edge), isOpen: port.isOpen || isOpenEdge(edge) });
    }
    const all = [...ports.values()];
    const isOnlyOpen = all.some(({ isOpen }) => isOpen) && !all.some(({ isOpen, count }) => !isOpen && count > 1);
    const node = nodes.get(id);
    const ownMaximum = isOnlyOpen && node ? givenMaxItems(node) : undefined;
    // The setting can be any number, even a fraction.
    return ownMaximum ?? Math.min(mostItems(node), Math.max(1, Math.ceil(Math.max(...all.map(({ count }) => count)))));
  };

  const outputs = (id: string): number => {
    const counted = knownCounts.get(id);
    if (counted !== undefined) return counted;
    // Prevents endless recursion on a cycle.
    knownCounts.set(id, 1);
    const node = nodes.get(id);
    const count = node ? countOf(node) : 1;
    knownCounts.set(id, count);
    return count;
  };

  const countOf = (node: GraphNode): number => {
    const kind = kindOf(node.type);
    const into = (): number => (incoming.get(node.id) ?? []).reduce((sum, edge) => sum + flowing(edge), 0);
    return kind?.savedCount ? kind.savedCount(node, into(), calls(node.id)) : calls(node.id);
  };

  const defaults = (id: string): [string, unknown][] =>
    (incoming.get(id) ?? []).map((edge): [string, unknown] => [edge.targetHandle ?? PRICED_INPUTS.characters, valueOf(edge)]);

  return { calls, defaults };
};

export const generatorUses = (whole: Graph): GeneratorUse[] => {
  const flow = savedFlow(withoutBypassed(whole).graph);
  const { calls, defaults } = createCounter(flow);
  return flow.graph.nodes
    .filter((node) => isGeneratorType(node.type))
    .map((node) => {
      const { model, ...data } = node.data;
      const literals = { ...data, ...literalInputs(node, undefined) };
      const flows = defaults(node.id);
      return {
        nodeId: node.id,
        model: typeof model === "string" ? model : "",
        inputs: { ...priceable([...Object.entries(literals), ...flows]), ...promptCharacters(literals, flows) },
        items: calls(node.id),
      };
    });
};

/** Expected cost of one run in milli-credits; null if the graph has no generators. Disabled models add nothing. */
export const estimateMillicredits = (
  uses: readonly GeneratorUse[],
  models: ReadonlyMap<string, { price: Price; inputSchema: JsonSchema }>,
  markupPermille: number,
): number | null => {
  if (uses.length === 0) return null;
  const cost = uses.reduce((sum, use) => {
    const model = models.get(use.model);
    if (!model) return sum;
    const { price, inputSchema: schema } = model;
    const promptLength = use.inputs[PROMPT_CHARACTERS];
    const characters = typeof promptLength === "number" ? promptLength : undefined;
    const call = worstCaseMicroUsd({ price, schema, inputs: use.inputs, unknown: new Set(), inputTokens: 0, characters });
    return sum + use.items * millicreditsFor(call, markupPermille);
  }, 0);
  return cost;
};
