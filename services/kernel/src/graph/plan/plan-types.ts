import type { Abstract } from "./abstract";
import type { JsonSchema, Price } from "../prices/price";
import type { BudgetUse } from "../budget";
import type { NodeType } from "../types";
import type { Reported } from "../values/reported";
import type { MediaValue } from "../values/value";

/** A node that still has to run. */
export interface NodeSource {
  node: string;
  port: string;
}

/**
 * A value that is known before the run. It is never undefined: JSON, as which a plan travels, would drop the member. An optional input
 * that wasn't given is absent. Plans of version 1.0.0 have `{}` in its place.
 */
export type KnownSource = { value: NonNullable<unknown> | null } | { absent: true };

/** Where a port's value comes from. */
export type Source = NodeSource | KnownSource;

export const knownSource = (value: unknown): KnownSource => (value === undefined ? { absent: true } : { value });

/** @returns undefined for an absent value */
export const valueOf = (source: KnownSource): unknown => ("value" in source ? source.value : undefined);

/** Whether anything but null may flow from sources; they are undefined for a port that isn't connected. */
export const mayCarry = (sources: readonly Source[] = []): boolean =>
  sources.some((source) => "node" in source || (valueOf(source) ?? null) !== null);

/** A node that runs when its sources are there. */
export interface PlanStep {
  id: string;
  type: NodeType;
  /** internalName, for nodes that call a model. */
  model?: string;
  /** What is done with files, for nodes that call transform. */
  operation?: string;
  /** Literal settings of the node. */
  literals: Readonly<Record<string, unknown>>;
  /** Sources by input port, in edge order. */
  sources: Readonly<Record<string, readonly Source[]>>;
  /** Ports that take a list as it is. */
  listPorts: readonly string[];
  /** Model inputs that are text: templates are filled and values become text there. */
  textPorts: readonly string[];
  /** Model inputs that are numbers: text that says one becomes it. */
  numberPorts?: readonly string[];
  /** Every input of the model; other ports are template names. */
  inputNames: readonly string[];
  /** Calls that are held: a list of unknown length counts as one item, or as the node's `maxItems`. */
  maxItems: number;
  /** Most items the node may turn out to have; absent where that is `maxItems`. */
  itemLimit?: number;
  /** The most one call may cost, in milli-credits. */
  maxMillicredits: number;
  /** A switch that only the run decides may skip it. */
  conditional?: true;
  /** What a language model's answers must be. One that is not is asked for once more: a call of its own. */
  answer?: { schema: JsonSchema; maxRepairMillicredits: number };
  /** Models that are called in their order where the step's own fails. */
  fallback?: readonly PlanAlternative[];
  /** Items whose calls fail are left out. */
  skipsFailed?: true;
  /** Names of the runner's secrets that an HTTP request needs; `{{secrets.NAME}}` stands for nothing else then. */
  secrets?: readonly string[];
}

/** How a model is called in place of a step's own. */
export interface PlanAlternative extends Pick<
  PlanStep,
  "literals" | "listPorts" | "textPorts" | "numberPorts" | "inputNames" | "maxMillicredits" | "answer"
> {
  model: string;
  /** What it calls inputs that the step's own model calls otherwise. */
  renamed?: Readonly<Record<string, string>>;
}

/** What the run needs to know of a model. */
export interface PlannedModel {
  providerKind: string;
  modality: string;
  price: Price;
}

/** A node that was evaluated while planning. */
export interface EvaluatedNode extends Reported {
  id: string;
  type: NodeType;
  warnings: string[];
}

/** Files of a template's author that nodes may turn out to be given, by media id. */
export interface AuthorFiles {
  authorFiles?: Record<string, MediaValue>;
}

/** A workflow that stands in another, as it was when its run was planned. */
export interface InlinedWorkflow {
  /** The node in whose place it came; in a workflow that stands in another itself, `outer/inner`. */
  nodeId: string;
  slug: string;
  /** Absent for the draft. */
  version?: number;
  /** SHA-256 of its nodes and edges. */
  contentHash: string;
}

/** Everything a run does, decided before it starts. Plain JSON. */
export interface RunPlan extends AuthorFiles {
  /** In dependency order. */
  steps: PlanStep[];
  evaluated: EvaluatedNode[];
  /** Nodes behind a port that planning knows to carry nothing; absent where there are none. */
  skipped?: Pick<EvaluatedNode, "id" | "type">[];
  /** Warnings of the steps, by node id. */
  warnings: Record<string, string[]>;
  models: Record<string, PlannedModel>;
  /** What their authors call nodes, by node id. */
  labels?: Record<string, string>;
  /** What flows into the response-output ports. */
  output: Record<string, Source[]>;
  /** What the addresses of files in our storage begin with. */
  storage?: string;
  /** Node ids of the response-output nodes. */
  outputNodes: string[];
  markupPermille: number;
  /** What planning used up of the run's bounds. */
  used: BudgetUse;
  /** Values of its nodes are not shown to its runner: they may name files of a template's author. */
  hidesOutputs?: true;
  /** Its runner may read no more of the graph than its schema: runs show their result, what they cost and errors. */
  graphHidden?: true;
  /** Workflows whose nodes are a part of it. */
  inlined?: readonly InlinedWorkflow[];
  /** Long texts that values say more than once: see `shareTexts`. */
  shared?: readonly string[];
}

/** One generator call's worst-case price, as billing holds it. */
export interface HoldItem {
  /** `<nodeId>:<item>`, with what `alternativeKey` puts behind it. */
  key: string;
  model: string;
  maxMillicredits: number;
  /** The key of the call that it may be made in place of: of both, the dearer is held. */
  alternativeTo?: string;
}

const REPAIR = ".repair";
const ALTERNATIVE = ".alt";

export const itemKey = (nodeId: string, item: number): string => `${nodeId}:${item}`;
/** The key of an item's call by the model at a place among its alternatives; 0 is the node's own. */
export const alternativeKey = (key: string, place: number): string => (place === 0 ? key : `${key}${ALTERNATIVE}${place}`);
const KEY_END = /:\d+(?:\.alt(\d+))?(?:\.repair)?$/;
/** Which of an item's models a call is made by, by its key; 0 is the node's own. */
export const placeOfKey = (key: string): number => Number(KEY_END.exec(key)?.[1] ?? 0);
/** The key of the call that asks for an item's answer once more, by the key of the first. */
export const repairKey = (key: string): string => `${key}${REPAIR}`;
export const isRepairKey = (key: string): boolean => key.endsWith(REPAIR);

/** What one item of a step holds: its call, and those that may be made in its place. */
export const itemHolds = ({ id, model, maxMillicredits, fallback = [] }: PlanStep, item: number): HoldItem[] => {
  if (model === undefined) return [];
  const key = itemKey(id, item);
  const alternatives = fallback.map((one, index) => ({
    key: alternativeKey(key, index + 1),
    model: one.model,
    maxMillicredits: one.maxMillicredits,
    alternativeTo: key,
  }));
  return [{ key, model, maxMillicredits }, ...alternatives];
};

/** What is held for one call of a step: of its model and those that may come in its place, the dearest. */
export const heldMillicredits = ({ maxMillicredits, fallback = [] }: Pick<PlanStep, "maxMillicredits" | "fallback">): number =>
  Math.max(maxMillicredits, ...fallback.map((one) => one.maxMillicredits));

/** What a run must hold: one entry per call that it may make. */
export const holdItems = (plan: RunPlan): HoldItem[] =>
  plan.steps.flatMap((step) =>
    Array.from({ length: step.model === undefined ? 0 : step.maxItems }, (_, item) => itemHolds(step, item)).flat(),
  );

/** Every model that a step may call, its own first. */
export const stepModels = ({ model, fallback = [] }: Pick<PlanStep, "model" | "fallback">): string[] =>
  model === undefined ? [] : [model, ...fallback.map((one) => one.model)];

/** Node ids a step waits for. */
export const dependencies = (step: Pick<PlanStep, "sources">): string[] => [
  ...new Set(Object.values(step.sources).flatMap((sources) => sources.flatMap((source) => ("node" in source ? [source.node] : [])))),
];

/** How one node is planned. */
export interface NodePlan {
  /** The step that runs later; undefined when all values are known now. */
  step?: PlanStep;
  /** True when its values are known now. */
  isEvaluated?: boolean;
  /** Only the run knows which of its output ports carries something. */
  isUndecided?: boolean;
  /** Its output ports that are known to carry nothing. */
  emptyPorts?: readonly string[];
  /** What is known of each of its outputs. */
  outputs: ReadonlyMap<string, Abstract>;
}

export const NOTHING_PLANNED: NodePlan = { outputs: new Map() };
