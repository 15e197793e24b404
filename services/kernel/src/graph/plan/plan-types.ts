import { textBytes } from "../bounds";
import type { Route } from "../auto/route";
import type { Abstract } from "./abstract";
import type { JsonSchema, Price } from "../prices/price";
import type { BudgetUse } from "../budget";
import type { NodeType } from "../types";
import type { ReportedOutputs } from "../values/reported";
import type { MediaValue } from "../values/value";

export interface NodeSource {
  node: string;
  port: string;
}

/**
 * A value known before the run. It is never undefined, because JSON would drop the member. An optional input that wasn't set is marked as
 * absent; plans of version 1.0.0 store `{}` instead.
 */
export type KnownSource = { value: NonNullable<unknown> | null } | { absent: true };

export type Source = NodeSource | KnownSource;

export const knownSource = (value: unknown): KnownSource => (value === undefined ? { absent: true } : { value });

/** @returns undefined for an absent value */
export const valueOf = (source: KnownSource): unknown => ("value" in source ? source.value : undefined);

/** True if the sources can have a value other than null. @param sources undefined for an unconnected port */
export const mayCarry = (sources: readonly Source[] = []): boolean =>
  sources.some((source) => "node" in source || (valueOf(source) ?? null) !== null);

/** A call with its expected input. The price grows linearly with the input, up to the step's `maxMillicredits`. */
export interface TypicalCall {
  millicredits: number;
  /** Bytes of the call's inputs without files. A token is at least one byte. */
  inputBytes: number;
  /** Upper bound of `inputBytes`. */
  mostBytes: number;
  files: readonly string[];
}

/** One node in a plan. It runs when its sources are ready. */
export interface PlanStep {
  id: string;
  type: NodeType;
  /** The model's internalName, if the node calls a model. */
  model?: string;
  /** The operation, if the node calls the transform service. */
  operation?: string;
  literals: Readonly<Record<string, unknown>>;
  /** Sources by input port, in edge order. */
  sources: Readonly<Record<string, readonly Source[]>>;
  /** Ports that accept a list unchanged. */
  listPorts: readonly string[];
  /** Text inputs of the model. Their templates are filled and other values are converted to text. */
  textPorts: readonly string[];
  /** Number inputs of the model. Numeric text is converted to a number. */
  numberPorts?: readonly string[];
  /** All inputs of the model. Any other port is a placeholder. */
  inputNames: readonly string[];
  /** Number of items that the hold covers. A list of unknown length counts as one item, or as the node's `maxItems`. */
  maxItems: number;
  /** Maximum number of items, if it differs from `maxItems`. */
  itemLimit?: number;
  /** Upper bound on one call's price. */
  maxMillicredits: number;
  /** The expected call of a language model whose input is unknown until the run. */
  typical?: TypicalCall;
  /** Maximum characters of a call's texts. */
  maxInputChars?: number;
  /** Set if the model is charged by the tokens it uses. The hold is an upper bound. */
  isMetered?: true;
  /** Set if the run's switches may skip this step. */
  conditional?: true;
  /** End of the turn of a loop before this step's turn. The step is skipped if the loop ends there. */
  gate?: string;
  /** Nodes that must be done before this step, even if it doesn't read them. */
  after?: readonly string[];
  /** Required form of a language model's answer. One more call repairs an invalid answer. */
  answer?: { schema: JsonSchema; maxRepairMillicredits: number };
  /** Models that are called in order if the step's own model fails. */
  fallback?: readonly PlanAlternative[];
  /** Set if items whose calls fail are skipped. */
  skipsFailed?: true;
  /** The runner's secrets that an HTTP request needs. Other `{{secrets.NAME}}` stay as text. */
  secrets?: readonly string[];
  /** Slug of the inlined workflow that contains a step with secrets; absent for a step of the run's own workflow. */
  innerWorkflow?: string;
}

/** How a fallback model is called. */
export interface PlanAlternative extends Pick<
  PlanStep,
  "literals" | "listPorts" | "textPorts" | "numberPorts" | "inputNames" | "maxMillicredits" | "typical" | "answer"
> {
  model: string;
  /** The fallback model's names for inputs that the step's own model names differently. */
  renamed?: Readonly<Record<string, string>>;
}

export interface PlannedModel {
  providerKind: string;
  modality: string;
  price: Price;
}

/** A node evaluated during planning. */
export interface EvaluatedNode extends ReportedOutputs {
  id: string;
  type: NodeType;
  warnings: string[];
}

/** Files of a template's author that the nodes can use, by media id. */
export interface AuthorFiles {
  authorFiles?: Record<string, MediaValue>;
}

/** An inlined workflow at the time when the run was planned. */
export interface InlinedWorkflow {
  /** Id of the replaced node; `outer/inner` for nested workflows. */
  nodeId: string;
  slug: string;
  /** Not set for the draft. */
  version?: number;
  /** SHA-256 of the workflow's nodes and edges. */
  contentHash: string;
}

/** Everything that a run does, decided before it starts. Plain JSON. */
export interface RunPlan extends AuthorFiles {
  /** Steps in dependency order. */
  steps: PlanStep[];
  evaluated: EvaluatedNode[];
  /** Nodes that certainly get no value. */
  skipped?: Pick<EvaluatedNode, "id" | "type">[];
  /** Warnings by node id. */
  warnings: Record<string, string[]>;
  models: Record<string, PlannedModel>;
  /** Nodes' labels, by node id. */
  labels?: Record<string, string>;
  /** Sources of the response-output ports. */
  output: Record<string, Source[]>;
  /** URL prefix of files in media storage. */
  storage?: string;
  outputNodes: string[];
  markupPermille: number;
  used: BudgetUse;
  /** Maximum calls of the run, if it isn't `GRAPH_BOUNDS.calls`. */
  maxCalls?: number;
  /** Set if node values are hidden from the runner, because they may refer to files of the template's author. */
  hidesOutputs?: true;
  /** Set if the runner can read only the graph's schema. Runs then show only their result, costs and errors. */
  graphHidden?: true;
  /** Set if the plan is of published versions of the runner's own workflows. Only then do approvers get links by mail. */
  mailsApprovers?: true;
  /** Models chosen for nodes that name a task. */
  routes?: readonly Route[];
  /** Workflows whose nodes the plan contains. */
  inlined?: readonly InlinedWorkflow[];
  /** Long texts that occur more than once; see `shareTexts`. */
  shared?: readonly string[];
}

/** Price of one call as billing holds it: an upper bound, or the cost of a typical call. */
export interface HoldItem {
  /** `<nodeId>:<item>`, with the suffix of `alternativeKey` if it has one. */
  key: string;
  model: string;
  maxMillicredits: number;
  /** Key of the call that this call replaces. The hold covers the more expensive of the two. */
  alternativeTo?: string;
}

const REPAIR = ".repair";
const MORE = ".more";
const ALTERNATIVE = ".alt";

export const itemKey = (nodeId: string, item: number): string => `${nodeId}:${item}`;
/** Call key for the model at a position in an item's fallback list. Position 0 is the node's own model. */
export const alternativeKey = (key: string, place: number): string => (place === 0 ? key : `${key}${ALTERNATIVE}${place}`);
const KEY_END = /:\d+(?:\.alt(\d+))?(?:\.repair)?$/;
/** The model's position in a call key. Position 0 is the node's own model. */
export const placeOfKey = (key: string): number => Number(KEY_END.exec(key)?.[1] ?? 0);
/** Key of the call that repairs an item's answer. @param key key of the item's first call */
export const repairKey = (key: string): string => `${key}${REPAIR}`;
/** Key of the additional hold for a call whose input is longer than expected. @param key the call's key */
export const moreKey = (key: string): string => `${key}${MORE}`;
/** Key of the call that a hold covers. */
export const calledKey = (key: string): string => (key.endsWith(MORE) ? key.slice(0, -MORE.length) : key);
export const isRepairKey = (key: string): boolean => key.endsWith(REPAIR);

type PricedCall = Pick<PlanStep, "maxMillicredits" | "typical">;

const expectedMillicredits = ({ maxMillicredits, typical }: PricedCall): number => typical?.millicredits ?? maxMillicredits;

/** Upper bound on a call's price, computed from its inputs. */
export const boundedMillicredits = ({ maxMillicredits, typical }: PricedCall, inputs: Readonly<Record<string, unknown>>): number => {
  if (!typical) return maxMillicredits;
  const counted = Object.fromEntries(Object.entries(inputs).filter(([name]) => !typical.files.includes(name)));
  const share = (textBytes(JSON.stringify(counted)) - typical.inputBytes) / (typical.mostBytes - typical.inputBytes);
  return Math.ceil(typical.millicredits + (maxMillicredits - typical.millicredits) * Math.min(1, Math.max(0, share)));
};

/** Holds of one item: one for its call and one for each fallback call. */
export const itemHolds = (step: PlanStep, item: number): HoldItem[] => {
  const { id, model, fallback = [] } = step;
  if (model === undefined) return [];
  const key = itemKey(id, item);
  const alternatives = fallback.map((one, index) => ({
    key: alternativeKey(key, index + 1),
    model: one.model,
    maxMillicredits: expectedMillicredits(one),
    alternativeTo: key,
  }));
  return [{ key, model, maxMillicredits: expectedMillicredits(step) }, ...alternatives];
};

type PricedStep = PricedCall & Pick<PlanStep, "fallback">;

/** Hold for one call of a step: the price of its most expensive model. */
export const heldMillicredits = ({ fallback = [], ...own }: PricedStep): number =>
  Math.max(...[own, ...fallback].map(expectedMillicredits));

/** Upper bound on the price of one call of a step, whichever model is called. */
export const mostMillicredits = ({ maxMillicredits, fallback = [] }: PricedStep): number =>
  Math.max(maxMillicredits, ...fallback.map((one) => one.maxMillicredits));

/** Holds of a run: one per possible call. */
export const holdItems = (plan: RunPlan): HoldItem[] =>
  plan.steps.flatMap((step) =>
    Array.from({ length: step.model === undefined ? 0 : step.maxItems }, (_, item) => itemHolds(step, item)).flat(),
  );

/** All models that a step can call, beginning with its own. */
export const stepModels = ({ model, fallback = [] }: Pick<PlanStep, "model" | "fallback">): string[] =>
  model === undefined ? [] : [model, ...fallback.map((one) => one.model)];

/** Ids of the nodes that a step waits for. */
export const dependencies = ({ sources, gate, after = [] }: Pick<PlanStep, "sources" | "gate" | "after">): string[] => [
  ...new Set([
    ...Object.values(sources).flatMap((all) => all.flatMap((source) => ("node" in source ? [source.node] : []))),
    ...(gate === undefined ? [] : [gate]),
    ...after,
  ]),
];

export interface NodePlan {
  /** The step to run later, or undefined if all values are known. */
  step?: PlanStep;
  isEvaluated?: boolean;
  /** Set if only the run decides which output port has a value. */
  isUndecided?: boolean;
  /** Output ports that certainly have no value. */
  emptyPorts?: readonly string[];
  outputs: ReadonlyMap<string, Abstract>;
}

export const NOTHING_PLANNED: NodePlan = { outputs: new Map() };
