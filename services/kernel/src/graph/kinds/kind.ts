import type { RunBudget } from "../budget";
import type { Planner } from "../plan/planner";
import type { MediaOperation } from "../operations/operation";
import type { NodePlan } from "../plan/plan-types";
import type { InputPort, PortType } from "../wiring/ports";
import type { JsonSchema } from "../prices/price";
import type { GraphIssue } from "../issues";
import type { GraphNode, NodeType } from "../types";

type Literals = Readonly<Record<string, unknown>>;

/** A node kind, as planning, running, the documentation and the console know it. */
export interface NodeKind {
  /** `node.type` */
  readonly type: NodeType;
  /** What it does, in a sentence. */
  readonly summary: string;
  /** Members of `node.data`, each with its JSON Schema. */
  readonly settings: Readonly<Record<string, JsonSchema>>;
  /** What its items call, each of them once; null for kinds that call nothing. */
  readonly calls: "model" | "http" | "transform" | null;
  /** The modality of the models it calls. */
  readonly modality?: string;
  /** False for kinds that are never run, and that no edge means. */
  readonly runs: boolean;
  /** True for kinds that make the run's result of what flows into them. */
  readonly isResult?: boolean;
  /** Other nodes come in its place before a run is planned: what it has may be any port. */
  readonly isReplaced?: boolean;
  /** True for kinds whose nodes wait for a person's decision, which chooses the port that their value leaves by. */
  readonly waits?: boolean;
  /** Whether ports follow the input schema of a model that the node names. */
  readonly portsOfModel?: boolean;

  /** What nodes of the kind can do, each with inputs of its own. */
  readonly operations?: readonly MediaOperation[];
  /** The schema of a node's inputs, where its own settings decide it. */
  schema?(node: GraphNode): JsonSchema | undefined;

  /** The input ports of a node, by name. */
  inputs(node: GraphNode, schema?: JsonSchema): Map<string, InputPort>;
  /** The port of a kind that takes any name. */
  anyInput?(name: string): InputPort;
  /** The output ports of a node, the first being its default. @param results what its model gives, where that is known */
  outputs(node: GraphNode, results?: readonly string[]): Map<string, PortType>;
  /** Output ports that a node has only with one of its settings. */
  readonly optionalOutputs?: readonly { name: string; type: PortType; setting: string }[];
  /** The port that an edge without a target handle means. */
  defaultInput?(outputName: string, node: GraphNode): string;

  /** What is wrong with the settings of a node, whatever flows into it. */
  check(node: GraphNode, schema?: JsonSchema): string[];
  /** What is wrong with the nodes of the kind together. */
  checkAll?(nodes: readonly GraphNode[]): GraphIssue[];
  /** Plans a node: its step, or its values where they are known already. */
  plan?(planner: Planner, node: GraphNode): NodePlan;
  /** The value of a pure node for one item, counted. @throws BindError */
  evaluate?(literals: Literals, item: Literals, budget: RunBudget): unknown;

  /**
   * For kinds whose value leaves by one of their output ports: the others carry nothing, and nodes that need them are skipped.
   * All input ports of such a kind take lists as they are, so that it has one item.
   */
  readonly route?: {
    /** The port that is taken, counted. @throws BindError */
    port(literals: Literals, item: Literals, budget: RunBudget): string;
    /** Input ports that decide it. */
    ports(literals: Literals): string[];
  };

  /** What the saved graph says of an output's value. */
  savedValue?(node: GraphNode, port: string | null): unknown;
  /**
   * Values that a node gives, as far as the saved graph tells; by default one for each item.
   * @param flowing values that flow into it
   * @param items the longest list among them
   */
  savedCount?(node: GraphNode, flowing: number, items: number): number;
  /** Whether an output may be a list whose length only a run knows, whatever the saved graph says. */
  savedOpen?(node: GraphNode, port: string | null): boolean;
  /** Ids of uploaded files that a node names. */
  mediaIds?(node: GraphNode): string[];
}

export const noPorts = (): Map<string, never> => new Map<string, never>();
export const nothingWrong = (): string[] => [];
