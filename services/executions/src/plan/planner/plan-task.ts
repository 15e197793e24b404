import {
  discreetPlan,
  DomainError,
  inputFields,
  invalidInputs,
  invalidRequest,
  isMediaId,
  isRecord,
  labelOf,
  mediaIds,
  mediaProblem,
  modelNames,
  nodeName,
  forwardedMediaIds,
  planRun,
  readGraph,
  resolveInputs,
  literalMediaIds,
  shareTexts,
  shownName,
  uploadFamily,
  upToNode,
  type BudgetUse,
  type DataFile,
  type Graph,
  type GraphIssue,
  type InputField,
  type Issue,
  type MediaValue,
  type ModelTerms,
  type PlanRequest,
} from "@nodeloom/kernel";
import { createAddressRules, type AddressRulesOptions } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { addressIssues, uploadIssues } from "./addresses";
import { fileFields, fileInputsOf, resolveDataFields, standForFiles } from "./data-places";
import { refusalOf } from "../../run/refusals";
import { compiledInputs } from "../model-catalog";
import { directGraph } from "./direct-graph";
import { broughtIds } from "./given-texts";
import type { PlanAnswer, PlanTask, TaskGraph, TaskModel, WantedFile } from "./protocol";

/** Of the cached graphs' JSON texts; their objects take a few times that. */
const CACHED_GRAPH_CHARS = 8 * 1024 * 1024;

type ReadGraph = Graph & { issues: GraphIssue[] };

interface CachedGraph {
  graph: ReadGraph;
  chars: number;
  /** Every text in it that could be the id of a file; read when that matters. */
  literalIds?: ReadonlySet<string>;
}

/** @throws DomainError INVALID_INPUTS, where something is wrong with them */
const checkInputs = (issues: Issue[]): void => {
  if (issues.length > 0) throw invalidInputs(issues);
};

const parseInputs = (json: string): Record<string, unknown> => {
  try {
    const inputs: unknown = JSON.parse(json);
    if (isRecord(inputs)) return inputs;
  } catch {
    // What is no JSON is no object.
  }
  throw invalidInputs([{ path: "inputs", message: "must be an object" }]);
};

/** A problem of the graph behind a direct run, as a problem of the inputs it was made of. */
const asInputIssue = ({ message }: GraphIssue): Issue => {
  const [, name, problem] = /^([\w-]+): (.*)$/s.exec(message) ?? [];
  return name === undefined ? { path: "inputs", message } : { path: `inputs.${name}`, message: problem! };
};

/** @throws DomainError INVALID_REQUEST */
const partOf = (graph: ReadGraph, until: string): ReadGraph => {
  const part = upToNode(graph, until);
  if (part) return part;
  throw invalidRequest([{ path: "until", message: `the workflow has no node ${shownName(until)} that runs` }]);
};

/** Inputs of the workflow that the nodes of a run don't ask for are left aside; those that the workflow doesn't know stay wrong. */
const neededInputs = (
  given: Record<string, unknown>,
  fields: readonly InputField[],
  all: readonly InputField[],
): Record<string, unknown> => {
  const needed = new Set(fields.map(({ name }) => name));
  const known = new Set(all.map(({ name }) => name));
  return Object.fromEntries(Object.entries(given).filter(([name]) => needed.has(name) || !known.has(name)));
};

/** Files that were not looked up yet. */
const missing = ({ lookedUp }: PlanTask, ids: Iterable<string>, isLiteral: (id: string) => boolean = () => false): WantedFile[] => {
  const known = new Set(lookedUp);
  return [...new Set(ids)].filter((id) => !known.has(id)).map((id) => ({ id, isLiteral: isLiteral(id) }));
};

/** Issues that the error's text names, each by what its author calls the node; all of them are in its list. */
const NAMED_ISSUES = 10;

const invalidWorkflow = (issues: GraphIssue[], { nodes }: Graph): DomainError => {
  const nameOf = (nodeId: string): string => {
    const node = nodes.find(({ id }) => id === nodeId);
    return nodeName(nodeId, node && labelOf(node));
  };
  const named = issues.slice(0, NAMED_ISSUES).map(({ nodeId, message }) => (nodeId === null ? message : `${nameOf(nodeId)}: ${message}`));
  const rest = issues.length - named.length;
  const text = `${named.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
  return new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't run: ${text}`, { issues });
};

export interface PlanTaskOptions {
  /** Which addresses users may name; its `own` is what the addresses of our files begin with. */
  addresses?: AddressRulesOptions | undefined;
  /** What one plan may use up; a run's bounds unless given. */
  bounds?: Readonly<BudgetUse>;
  /** Of the graphs that are kept. */
  cachedChars?: number;
}

/**
 * Plans runs from plain values. Nothing is looked up here; what is missing is asked for.
 * Graphs and compiled schemas are kept.
 */
export const createPlanTask = (options: PlanTaskOptions = {}): ((task: PlanTask) => PlanAnswer) => {
  const { addresses, bounds, cachedChars = CACHED_GRAPH_CHARS } = options;
  const storage = addresses?.own === undefined ? {} : { storage: addresses.own };
  const rules = addresses && createAddressRules(addresses);
  const graphs = new LRUCache<string, CachedGraph>({ maxSize: cachedChars, sizeCalculation: ({ chars }) => chars + 1 });
  const termsOf = ({ inputSchemaJson, ...rest }: TaskModel): ModelTerms => ({ ...rest, ...compiledInputs(inputSchemaJson) });

  const load = ({ key, texts }: TaskGraph): CachedGraph | undefined => {
    const known = graphs.get(key);
    if (known || !texts) return known;
    const read = { graph: readGraph(texts.nodesJson, texts.edgesJson), chars: texts.nodesJson.length + texts.edgesJson.length };
    graphs.set(key, read);
    return read;
  };

  const literalIds = (cached: CachedGraph): ReadonlySet<string> => (cached.literalIds ??= literalMediaIds(cached.graph));

  const planGraph = (cached: CachedGraph, { isForeign, until }: TaskGraph, task: PlanTask): PlanAnswer => {
    const graph = until === undefined ? cached.graph : partOf(cached.graph, until);
    const given = parseInputs(task.inputsJson);
    const fields = inputFields(graph);
    const inputs = until === undefined ? given : neededInputs(given, fields, inputFields(cached.graph));
    const fileInputs = fileFields(fields).map(({ name }) => name);
    if (!standForFiles(task.standIns, inputs, fileInputs)) return { answer: "whole" };
    const { values, issues } = resolveInputs(fields, inputs);
    checkInputs(issues);
    if (rules) checkInputs(uploadIssues(fields, values, rules));
    const isBrought = broughtIds(inputs, fields);
    const isAuthors = (id: string): boolean => isForeign && literalIds(cached).has(id) && !isBrought(id);
    const wanted = (ids: Iterable<string>): WantedFile[] => missing(task, ids, isAuthors);
    const references = fields.filter((field) => uploadFamily(field) !== undefined && isMediaId(values.get(field.name)));
    const files = wanted([...mediaIds(graph), ...references.map((field) => values.get(field.name) as string)]);
    if (!task.models || files.length > 0) return { answer: "lookup", lookup: { models: modelNames(graph), media: files } };
    const media = new Map<string, MediaValue>(task.media);
    for (const field of references) {
      const file = media.get(values.get(field.name) as string);
      const problem = file ? mediaProblem(uploadFamily(field)!, file) : "is not one of your media files";
      if (problem) throw invalidInputs([{ path: `inputs.${field.name}`, message: problem }]);
      values.set(field.name, file);
    }
    const data = new Map<string, DataFile>(task.data);
    checkInputs(resolveDataFields(fields, values, data, storage.storage));
    const models = new Map(task.models.map((model) => [model.internalName, termsOf(model)]));
    const request = { graph, inputs: values, models, media, data, ...storage, markupPermille: task.markupPermille };
    const answer = planned(request, task, fileInputs, wanted, (found) => invalidWorkflow(found, graph));
    if (answer.answer !== "plan" || !isForeign) return answer;
    const forwarded = forwardedMediaIds(answer.plan).filter(isAuthors);
    const namesFiles = forwarded.length > 0 || task.media.some(([id]) => isAuthors(id));
    return { ...answer, forwardedMediaIds: forwarded, ...(namesFiles ? { plan: discreetPlan(answer.plan) } : {}) };
  };

  /**
   * Plans a run; what it turns out to need of files is asked for, and last of all that data URLs are stored.
   * @param invalid what is thrown where the graph can't run
   */
  const planned = (
    request: PlanRequest & { data: ReadonlyMap<string, DataFile> },
    { storesNothing }: PlanTask,
    fileInputs: string[],
    wanted: (ids: Iterable<string>) => WantedFile[],
    invalid: (issues: GraphIssue[]) => DomainError,
  ): PlanAnswer => {
    const { plan, dataUrls, ...rest } = planRun(request, bounds);
    const refused = plan && rules ? addressIssues(plan, request.models, rules) : [];
    if (refused.length > 0) throw invalid(refused);
    const pending = [...request.data].flatMap(([url, { isPending }]) => (isPending ? [url] : []));
    const data = storesNothing ? [] : [...new Set([...pending, ...dataUrls])];
    if (plan && data.length > 0) return { answer: "lookup", lookup: { models: [], media: [], data } };
    if (plan) return { answer: "plan", plan, forwardedMediaIds: [], fileInputs };
    const { unknownMedia, issues } = rest as { unknownMedia: string[]; issues: GraphIssue[] };
    const files = wanted(unknownMedia);
    if (files.length > 0) return { answer: "lookup", lookup: { models: [], media: files } };
    throw invalid(issues);
  };

  const planModel = (name: string, task: PlanTask): PlanAnswer => {
    const inputs = parseInputs(task.inputsJson);
    const model = task.models?.find(({ internalName }) => internalName === name);
    if (!model) return { answer: "lookup", lookup: { models: [name], media: [] } };
    const terms = termsOf(model);
    const fileInputs = fileInputsOf(terms.inputSchema);
    if (!standForFiles(task.standIns, inputs, fileInputs)) return { answer: "whole" };
    checkInputs(terms.validate(inputs).map(({ path, message }) => ({ path: path ? `inputs.${path}` : "inputs", message })));
    const request = {
      graph: directGraph(terms, inputs),
      inputs: new Map(),
      models: new Map([[name, terms]]),
      media: new Map(task.media),
      data: new Map(task.data),
      ...storage,
      markupPermille: task.markupPermille,
      // What the caller sends is meant as it is: a prompt may well speak of {{templates}}.
      noTemplates: true,
    };
    const wanted = (ids: Iterable<string>): WantedFile[] => missing(task, ids);
    return planned(request, task, fileInputs, wanted, (issues) => invalidInputs(issues.map(asInputIssue)));
  };

  const run = (task: PlanTask): PlanAnswer => {
    const { target } = task;
    if ("model" in target) return planModel(target.model, task);
    const cached = load(target.graph);
    return cached ? planGraph(cached, target.graph, task) : { answer: "texts" };
  };

  return (task) => {
    try {
      const answer = run(task);
      return answer.answer === "plan" ? { ...answer, plan: shareTexts(answer.plan) } : answer;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { answer: "error", error: refusalOf(error) };
    }
  };
};
