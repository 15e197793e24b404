import {
  withHiddenOutputs,
  forwardedMediaIds,
  inputFields,
  invalidRequest,
  isBypassed,
  isMediaId,
  literalMediaIds,
  mediaIds,
  mediaProblem,
  outerNodeOf,
  resolveInputs,
  shownName,
  uploadFamily,
  upToNode,
  withChosenModels,
  type DataFile,
  type Finding,
  type GraphIssue,
  type InputField,
  type Issue,
  type MediaValue,
  type ModelTerms,
  type NodeIssue,
} from "@nodeloom/kernel";
import { credentialIssues } from "@nodeloom/kernel/credentials";
import { broughtIds, fileFields, filesOfFields, replaceFiles, resolveDataFields, standForFiles, uploadIssues } from "./file-inputs";
import { checkInputs, finishPlan, invalidWorkflow, missing, notLookedUp, parseInputs, type PlanRules, termsOf } from "./finish";
import { type CachedGraph, expand, type ExpandedGraph, foreignSecretIssues, type ReadGraph } from "./inlining";
import type { PlanAnswer, PlanTask, TaskGraph } from "./protocol";
import { planRouted, type RoutedAttempt } from "./routes";

const upTo = (graph: ReadGraph, until: string, id: string): ReadGraph => {
  const part = upToNode(graph, id);
  if (part) return part;
  throw invalidRequest([{ path: "until", message: `the workflow has no node ${shownName(until)} that runs` }]);
};

/**
 * Returns the part of a graph that runs. A node inside an inlined workflow represents the workflow node.
 * @throws DomainError INVALID_REQUEST if the graph has no such node
 */
export const partToRun = ({ graph }: CachedGraph, until: string | undefined): ReadGraph =>
  until === undefined ? graph : upTo(graph, until, outerNodeOf(graph, until));

export interface WorkflowTarget extends Pick<Extract<PlanTask["target"], { graph: unknown }>, "isForeign" | "inner" | "runnerId"> {
  until: string | undefined;
  read: (graph: TaskGraph) => CachedGraph;
}

/** Drops inputs that the nodes of this run don't use. Inputs that the workflow doesn't declare still cause errors. */
const neededInputs = (
  inputs: Record<string, unknown>,
  fields: readonly InputField[],
  all: readonly InputField[],
): Record<string, unknown> => {
  const needed = new Set(fields.map(({ name }) => name));
  const knownNames = new Set(all.map(({ name }) => name));
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => needed.has(name) || !knownNames.has(name)));
};

/** Replaces ids in upload fields with files. */
const resolveFileFields = (fields: readonly InputField[], values: Map<string, unknown>, media: ReadonlyMap<string, MediaValue>): Issue[] =>
  replaceFiles(fields, values, (field, value) => {
    if (!isMediaId(value)) return { file: value };
    const file = media.get(value);
    return { file, problem: file ? mediaProblem(uploadFamily(field)!, file) : "is not one of your media files" };
  });

const addWarnings = (warnings: Map<string, Finding[]>, issues: readonly NodeIssue[]): void => {
  for (const { nodeId, ...warning } of issues) warnings.set(nodeId, [...(warnings.get(nodeId) ?? []), warning]);
};

/** @throws DomainError INVALID_REQUEST, INVALID_INPUTS or WORKFLOW_INVALID */
export const planWorkflowRun = (
  rules: PlanRules,
  cached: CachedGraph,
  { inner, runnerId = "", read, ...rest }: WorkflowTarget,
  task: PlanTask,
): PlanAnswer => {
  const models = new Map(task.models.map((model) => [model.internalName, termsOf(model)]));
  const retired = new Map(task.retired);
  const successors = [...retired].flatMap(([name, model = ""]): [string, ModelTerms][] => {
    const terms = models.get(model);
    return terms ? [[name, terms]] : [];
  });
  const { until } = rest;
  const part = partToRun(cached, until);
  const expanded = inner && expand(part, cached, inner, { read, models, runnerId });
  const isInside = until !== undefined && outerNodeOf(cached.graph, until) !== until;
  const whole = isInside && expanded ? upTo(expanded.graph, until, until) : (expanded?.graph ?? part);
  const target = { ...rest, cached, expanded, models, retired, successors: new Map(successors) };
  return planRouted(whole, models, task, (attempt) => planChosen(rules, whole, target, attempt, task));
};

interface ChosenTarget extends Pick<WorkflowTarget, "until" | "isForeign"> {
  cached: CachedGraph;
  expanded: ExpandedGraph | undefined;
  models: ReadonlyMap<string, ModelTerms>;
  retired: ReadonlyMap<string, string | undefined>;
  /** Successors of retired models, by the name in nodes. */
  successors: ReadonlyMap<string, ModelTerms>;
}

/** Plans a graph with the models of one attempt. */
const planChosen = (
  rules: PlanRules,
  whole: ReadGraph,
  { until, isForeign, cached, expanded, models, retired, successors }: ChosenTarget,
  { routed, noModel, others, onPrices }: RoutedAttempt,
  task: PlanTask,
): PlanAnswer => {
  const { graph: chosenGraph, warnings } = withChosenModels(whole, successors, routed);
  const active = chosenGraph.nodes.filter((node) => !isBypassed(node));
  if (!isForeign) addWarnings(warnings, credentialIssues({ nodes: active }));
  const graph = isForeign ? { ...chosenGraph, issues: [...chosenGraph.issues, ...foreignSecretIssues(chosenGraph)] } : chosenGraph;
  const givenInputs = parseInputs(task.inputsJson);
  const fields = inputFields(graph);
  const inputs = until === undefined ? givenInputs : neededInputs(givenInputs, fields, inputFields(cached.graph));
  const fileInputs = fileFields(fields).map(({ name }) => name);
  if (!standForFiles(task.standIns, inputs, fileInputs)) return missing({ wholeInputs: true });
  const { values, issues } = resolveInputs(fields, inputs);
  checkInputs(issues);
  if (rules.addresses) checkInputs(uploadIssues(fields, values, rules.addresses));

  const isBrought = broughtIds(inputs, fields);
  const isAuthors = (id: string): boolean => isForeign && (cached.literalIds ??= literalMediaIds(cached.graph)).has(id) && !isBrought(id);
  const fieldIds = filesOfFields(fields, values).flatMap(({ value }) => (isMediaId(value) ? [value] : []));
  const ownerOf = expanded && ((id: string) => (isBrought(id) ? undefined : expanded.ownerOf(id)));
  const neededMedia = notLookedUp(task, [...mediaIds(graph), ...fieldIds], {
    isAuthors,
    ownerOf,
  });
  if (neededMedia.length > 0) return missing({ media: neededMedia });

  const media = new Map(task.media);
  checkInputs(resolveFileFields(fields, values, media));
  const data = new Map<string, DataFile>(task.data);
  checkInputs(resolveDataFields(fields, values, data, rules.storage));
  const { modelNames } = task;
  const ofPart = until === undefined ? {} : { isPart: true };
  const request = {
    graph,
    inputs: values,
    models,
    noModel,
    ...(others ? { others } : {}),
    retired,
    warnings,
    media,
    data,
    ...ofPart,
    ...(modelNames ? { modelNames } : {}),
  };
  const invalid = (graphIssues: GraphIssue[]) => invalidWorkflow(graphIssues, graph);
  const answer = finishPlan(rules, { task, request, fileInputs, isAuthors, ownerOf, invalid, onPrices });
  if (answer.answer !== "plan" || (!isForeign && !expanded)) return answer;
  const ids = forwardedMediaIds(answer.plan);
  const forwarded = ids.filter(isAuthors);
  const innerMediaIds = ids.flatMap((id): [string, string][] => {
    const ownerId = ownerOf?.(id);
    return ownerId === undefined ? [] : [[ownerId, id]];
  });
  // Files that are defaults of a template's fields are public.
  const examples = new Set(filesOfFields(fields, new Map(fields.map((field) => [field.name, field.default]))).map(({ value }) => value));
  const isOthers = (id: string): boolean => (isAuthors(id) && !examples.has(id)) || ownerOf?.(id) !== undefined;
  // The inner workflows of a template may be private to its author.
  const hides =
    (isForeign && expanded !== undefined) ||
    innerMediaIds.length > 0 ||
    forwarded.some(isOthers) ||
    task.media.some(([id]) => isOthers(id));
  return { ...answer, forwardedMediaIds: forwarded, innerMediaIds, ...(hides ? { plan: withHiddenOutputs(answer.plan) } : {}) };
};
