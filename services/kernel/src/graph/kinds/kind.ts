import type { RunBudget } from "../budget";
import type { Planner } from "../plan/planner";
import type { MediaOperation } from "../operations/operation";
import type { NodePlan } from "../plan/plan-types";
import type { InputPort, PortType } from "../wiring/ports";
import type { JsonSchema } from "../prices/price";
import type { GraphIssue } from "../issues";
import type { GraphNode, NodeType } from "../types";

type Literals = Readonly<Record<string, unknown>>;

/** A node kind, as planning, execution, the docs and the console use it. */
export interface NodeKind {
  readonly type: NodeType;
  /** One sentence. */
  readonly summary: string;
  /** JSON Schemas of the members of `node.data`. The console makes a form of them: `title` is the label, `description` the help text. */
  readonly settings: Readonly<Record<string, JsonSchema>>;
  /** The kind of call that the node makes once per item; null for none. */
  readonly calls: "model" | "http" | "transform" | null;
  /** The modality of the models that it calls. */
  readonly modality?: string;
  /** False for kinds that never run and have no ports, such as notes. */
  readonly runs: boolean;
  readonly isResult?: boolean;
  /** Expanded before planning. Its ports are unknown, so any port name is valid. */
  readonly isReplaced?: boolean;
  /** True for kinds that wait for a person's decision, which chooses the output port. */
  readonly waits?: boolean;
  /** True if ports come from the input schema of the node's model. */
  readonly portsOfModel?: boolean;

  /** Operations of the kind, each with its own inputs. */
  readonly operations?: readonly MediaOperation[];
  /** The node's input schema, if its settings decide it. */
  schema?(node: GraphNode): JsonSchema | undefined;

  /** Input ports by name. */
  inputs(node: GraphNode, schema?: JsonSchema): Map<string, InputPort>;
  /** For kinds that accept any port name. */
  anyInput?(name: string): InputPort;
  /** Output ports by name; the first is the default. @param results members of the model's result, if known */
  outputs(node: GraphNode, results?: readonly string[]): Map<string, PortType>;
  /** Output ports that only exist with a setting. */
  readonly optionalOutputs?: readonly { name: string; type: PortType; setting: string }[];
  /** The input port of an edge without a target handle. */
  defaultInput?(outputName: string, node: GraphNode): string;

  /** Problems of a node's settings, whatever its edges carry. Each begins with the setting: `case: must be one of upper, lower`. */
  check(node: GraphNode, schema?: JsonSchema): string[];
  /** Problems of all nodes of the kind together. */
  checkAll?(nodes: readonly GraphNode[]): GraphIssue[];
  /** Plans the node: a step, or its values if they are known. */
  plan?(planner: Planner, node: GraphNode): NodePlan;
  /** The value of a pure node for one item; counted. @throws BindError */
  evaluate?(literals: Literals, item: Literals, budget: RunBudget): unknown;

  /**
   * For kinds whose value leaves through one of several output ports. The other ports carry nothing, and nodes that need them are skipped.
   * All input ports of such a kind accept lists unchanged, so it always has one item.
   */
  readonly route?: {
    /** The port taken; counted. @throws BindError */
    port(literals: Literals, item: Literals, budget: RunBudget): string;
    /** Input ports that the choice depends on. */
    ports(literals: Literals): string[];
  };

  /** The output value as far as the saved graph defines it. */
  savedValue?(node: GraphNode, port: string | null): unknown;
  /**
   * Number of values of an output, estimated from the saved graph; one per item by default.
   * @param flowing values on the incoming edges
   * @param items length of the longest incoming list
   */
  savedCount?(node: GraphNode, flowing: number, items: number): number;
  /** True if an output can be a list of unknown length. */
  savedOpen?(node: GraphNode, port: string | null): boolean;
  /** Ids of uploaded files in the node's settings. */
  mediaIds?(node: GraphNode): string[];
}

export const noPorts = (): Map<string, never> => new Map<string, never>();
export const nothingWrong = (): string[] => [];
