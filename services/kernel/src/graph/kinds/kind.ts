import type { RunBudget } from "../budget";
import type { Planner } from "../plan/planner";
import type { MediaOperation } from "../operations/operation";
import type { NodePlan } from "../plan/plan-types";
import type { InputPort, PortType } from "../wiring/ports";
import type { JsonSchema } from "../prices/price";
import type { GraphIssue } from "../../issues";
import type { GraphNode, NodeType } from "../types";

type Literals = Readonly<Record<string, unknown>>;

/** What a node outputs: the values that its execution reports by port, and the ports that pass theirs on. */
export interface Outlets {
  values: Readonly<Record<string, unknown>>;
  carrying: readonly string[];
}

/** A node kind, as used by planning, execution, the docs and the console. */
export interface NodeKind {
  readonly type: NodeType;
  readonly summary: string;
  /**
   * JSON Schemas for the members of `node.data`. The console builds a form from them: `title` is the label, `description` the help text.
   */
  readonly settings: Readonly<Record<string, JsonSchema>>;
  /** The kind of call that the node makes once per item; null if it makes none. */
  readonly calls: "model" | "http" | "transform" | null;
  /** The modality of the models that the kind calls. */
  readonly modality?: string;
  /** False for kinds that never run and have no ports, such as notes. */
  readonly runs: boolean;
  readonly isResult?: boolean;
  /** True for kinds that are expanded before planning. Their ports are unknown, so any port name is valid. */
  readonly isReplaced?: boolean;
  /** True for kinds that wait for a person's decision, which chooses the output port. */
  readonly waits?: boolean;
  /** True if the ports come from the model's input schema. */
  readonly portsOfModel?: boolean;

  /** Operations of the kind, each with separate inputs. */
  readonly operations?: readonly MediaOperation[];
  /** Returns the node's input schema if its settings define one. */
  schema?(node: GraphNode): JsonSchema | undefined;

  inputs(node: GraphNode, schema?: JsonSchema): Map<string, InputPort>;
  /** For kinds that accept any port name. */
  anyInput?(name: string): InputPort;
  /** Output ports by name; the first one is the default. @param results members of the model's result, if known */
  outputs(node: GraphNode, results?: readonly string[]): Map<string, PortType>;
  /** Output ports that exist only if a setting is present. */
  readonly optionalOutputs?: readonly { name: string; type: PortType; setting: string }[];
  /** Returns the input port for an edge without a target handle. */
  defaultInput?(outputName: string, node: GraphNode): string;

  /** Problems of a node's settings, independent of its edges. Each text begins with the setting: `case: must be one of upper, lower`. */
  check(node: GraphNode, schema?: JsonSchema): string[];
  /** Problems that concern several nodes of the kind. */
  checkAll?(nodes: readonly GraphNode[]): GraphIssue[];
  /** Plans the node. Returns a step, or the node's values if they are already known. */
  plan?(planner: Planner, node: GraphNode): NodePlan;
  /** Returns the value of a pure node for one item and counts its work. @throws BindError */
  evaluate?(literals: Literals, item: Literals, budget: RunBudget): unknown;
  /** Setting whose text is code. It never reaches another node, so it isn't the id of a file. */
  readonly code?: string;

  /**
   * For kinds that send their value to one of several output ports. The other ports have no value, and nodes that need one are skipped. All
   * input ports of such a kind accept lists unchanged, so the node always has one item.
   */
  readonly route?: {
    /** Returns the chosen port and counts the work. @throws BindError */
    port(literals: Literals, item: Literals, budget: RunBudget): string;
    /** Input ports that the choice depends on. */
    ports(literals: Literals): string[];
  };

  /**
   * For kinds that give a value to several ports or to none. The other ports have no value. All input ports of such a kind accept lists
   * unchanged.
   */
  readonly outlets?: (literals: Literals, item: Literals, budget: RunBudget) => Outlets;
  /** True if the node runs even if some of its connected ports get no value. Result nodes always do. */
  readonly allowsMissing?: (literals: Literals) => boolean;

  /** Returns the output value if the saved graph defines it. If the node has inputs, the value is a template. */
  savedValue?(node: GraphNode, port: string | null): unknown;
  /**
   * Computes the output value from the saved values at the node's ports, or returns `ABSENT` if the output gets no value.
   * @throws BindError
   */
  savedResult?(node: GraphNode, port: string | null, item: Literals, budget: RunBudget): unknown;
  /**
   * Estimates the number of values of an output from the saved graph. Without this method: one per item.
   * @param flowing number of values on the incoming edges
   * @param items length of the longest incoming list
   */
  savedCount?(node: GraphNode, flowing: number, items: number): number;
  /** True if an output can be a list of unknown length. */
  savedOpen?(node: GraphNode, port: string | null): boolean;
  /** Ids of uploaded files that the node's settings name. */
  mediaIds?(node: GraphNode): string[];
}

export const noPorts = (): Map<string, never> => new Map<string, never>();
export const nothingWrong = (): string[] => [];
