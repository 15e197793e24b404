import {
  compileSchema,
  discreetPlan,
  DomainError,
  inputFields,
  invalidRequest,
  isMediaId,
  isRecord,
  labelOf,
  mediaIds,
  mediaProblem,
  modelNames,
  forwardedMediaIds,
  planRun,
  readGraph,
  resolveInputs,
  literalMediaIds,
  shareTexts,
  shownName,
  uploadFamily,
  upToNode,
  type DataFile,
  type Graph,
  type GraphIssue,
  type InputField,
  type Issue,
  type JsonSchema,
  type MediaValue,
  type ModelTerms,
  type PlanRequest,
} from "@nodeloom/kernel";
import { createAddressRules, type AddressRulesOptions } from "@nodeloom/platform";
import { LRUCache } from "lru-cache";
import { addressIssues, uploadIssues } from "./addresses";
import { fileFields, fileInputsOf, resolveDataFields, standForFiles } from "./data-places";
import { refusalOf } from "../../refusals";
import { directGraph } from "./direct-graph";
import { broughtIds } from "./given-texts";
import type { PlanAnswer, PlanTask, TaskGraph, TaskModel, WantedFile } from "./protocol";

/** Of the cached graphs' JSON texts; their objects take a few times that. */
const CACHED_GRAPH_CHARS = 8 * 1024 * 1024;
const COMPILED_SCHEMAS = 200;

type ReadGraph = Graph & { issues: GraphIssue[] };

interface CachedGraph {
  graph: ReadGraph;
  chars: number;
  /** Every text in it that could be the id of a file; read when that matters. */
  literalIds?: ReadonlySet<string>;
}

const parseInputs = (json: string): Record<string, unknown> | undefined => {
  try {
    const inputs: unknown = JSON.parse(json);
    return isRecord(inputs) ? inputs : undefined;
  } catch {
    return undefined;
  }
};

const NO_OBJECT: PlanAnswer = { answer: "inputs", issues: [{ path: "inputs", message: "must be an object" }] };

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

/** What authors call the nodes that something is wrong with. */
const labelsOf = (graph: Graph, issues: readonly GraphIssue[]): [string, string][] => {
  const named = new Set(issues.map(({ nodeId }) => nodeId));
  return graph.nodes.flatMap((node): [string, string][] => {
    const label = named.has(node.id) ? labelOf(node) : undefined;
    return label === undefined ? [] : [[node.id, label]];
  });
};

export interface PlanTaskOptions {
  /** Which addresses users may name; its `own` is what the addresses of our files begin with. */
  addresses?: AddressRulesOptions | undefined;
}

/**
 * Plans runs from plain values: what a planner's thread does. Nothing is looked up here; what is missing is asked for.
 * Graphs and compiled schemas are kept.
 */
export const createPlanTask = ({ addresses }: PlanTaskOptions = {}): ((task: PlanTask) => PlanAnswer) => {
  const storage = addresses?.own === undefined ? {} : { storage: addresses.own };
  const rules = addresses && createAddressRules(addresses);
  const graphs = new LRUCache<string, CachedGraph>({ maxSize: CACHED_GRAPH_CHARS, sizeCalculation: ({ chars }) => chars + 1 });
  const schemas = new LRUCache<string, Pick<ModelTerms, "inputSchema" | "validate">>({ max: COMPILED_SCHEMAS });

  const termsOf = ({ inputSchemaJson, ...rest }: TaskModel): ModelTerms => {
    const known = schemas.get(inputSchemaJson);
    if (known) return { ...rest, ...known };
    const inputSchema = JSON.parse(inputSchemaJson) as JsonSchema;
    const compiled = { inputSchema, validate: compileSchema(inputSchema) };
    schemas.set(inputSchemaJson, compiled);
    return { ...rest, ...compiled };
  };

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
    if (!given) return NO_OBJECT;
    const fields = inputFields(graph);
    const inputs = until === undefined ? given : neededInputs(given, fields, inputFields(cached.graph));
    const fileInputs = fileFields(fields).map(({ name }) => name);
    if (!standForFiles(task.standIns, inputs, fileInputs)) return { answer: "whole" };
    const { values, issues } = resolveInputs(fields, inputs);
    if (issues.length > 0) return { answer: "inputs", issues };
    const refused = rules ? uploadIssues(fields, values, rules) : [];
    if (refused.length > 0) return { answer: "inputs", issues: refused };
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
      if (problem) return { answer: "inputs", issues: [{ path: `inputs.${field.name}`, message: problem }] };
      values.set(field.name, file);
    }
    const data = new Map<string, DataFile>(task.data);
    const bad = resolveDataFields(fields, values, data, storage.storage);
    if (bad) return { answer: "inputs", issues: [{ path: `inputs.${bad.name}`, message: bad.problem }] };
    const models = new Map(task.models.map((model) => [model.internalName, termsOf(model)]));
    const request = { graph, inputs: values, models, media, data, ...storage, markupPermille: task.markupPermille };
    const answer = planned(request, task, fileInputs, wanted);
    if (answer.answer !== "plan" || !isForeign) return answer;
    const forwarded = forwardedMediaIds(answer.plan).filter(isAuthors);
    const namesFiles = forwarded.length > 0 || task.media.some(([id]) => isAuthors(id));
    return { ...answer, forwardedMediaIds: forwarded, ...(namesFiles ? { plan: discreetPlan(answer.plan) } : {}) };
  };

  /** Plans a run; what it turns out to need of files is asked for, and last of all that data URLs are stored. */
  const planned = (
    request: PlanRequest & { data: ReadonlyMap<string, DataFile> },
    { storesNothing }: PlanTask,
    fileInputs: string[],
    wanted: (ids: Iterable<string>) => WantedFile[],
  ): PlanAnswer => {
    const { plan, dataUrls, ...rest } = planRun(request);
    const refused = plan && rules ? addressIssues(plan, request.models, rules) : [];
    if (refused.length > 0) return { answer: "invalid", issues: refused, labels: labelsOf(request.graph, refused) };
    const pending = [...request.data].flatMap(([url, { isPending }]) => (isPending ? [url] : []));
    const data = storesNothing ? [] : [...new Set([...pending, ...dataUrls])];
    if (plan && data.length > 0) return { answer: "lookup", lookup: { models: [], media: [], data } };
    if (plan) return { answer: "plan", plan, forwardedMediaIds: [], fileInputs };
    const { unknownMedia, issues } = rest as { unknownMedia: string[]; issues: GraphIssue[] };
    const files = wanted(unknownMedia);
    if (files.length > 0) return { answer: "lookup", lookup: { models: [], media: files } };
    return { answer: "invalid", issues, labels: labelsOf(request.graph, issues) };
  };

  const planModel = (name: string, task: PlanTask): PlanAnswer => {
    const inputs = parseInputs(task.inputsJson);
    if (!inputs) return NO_OBJECT;
    const model = task.models?.find(({ internalName }) => internalName === name);
    if (!model) return { answer: "lookup", lookup: { models: [name], media: [] } };
    const terms = termsOf(model);
    const fileInputs = fileInputsOf(terms.inputSchema);
    if (!standForFiles(task.standIns, inputs, fileInputs)) return { answer: "whole" };
    const problems = terms.validate(inputs);
    if (problems.length > 0)
      return {
        answer: "inputs",
        issues: problems.map(({ path, message }) => ({ path: path ? `inputs.${path}` : "inputs", message })),
      };
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
    const answer = planned(request, task, fileInputs, (ids) => missing(task, ids));
    return answer.answer === "invalid" ? { answer: "inputs", issues: answer.issues.map(asInputIssue) } : answer;
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
