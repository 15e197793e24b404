import { randomUUID } from "node:crypto";
import {
  DomainError,
  holdItems,
  inputFields,
  invalidInputs,
  isBaseTier,
  isMediaId,
  isRecord,
  labelOf,
  mediaIds,
  mediaProblem,
  modelNames,
  nodeName,
  passedIds,
  planRun,
  readGraph,
  resolveInputs,
  saidIds,
  tierReaches,
  uploadFamily,
  type Graph,
  type GraphIssue,
  type HoldItem,
  type Issue,
  type MediaValue,
  type Planned,
  type PlanRequest,
  type RunPlan,
} from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Media, Workflows } from "../clients";
import { findFiles, lentFiles, type FindFiles, type Lender } from "./files";
import type { CatalogModel, ModelCatalog } from "./model-catalog";

export interface PlannedRun {
  plan: RunPlan;
  holds: HoldItem[];
  workflowSlug: string | null;
  modelIds: string[];
}

export interface PlanningRequest {
  target: executions.Target["target"];
  runner: executions.Runner;
  inputsJson: string;
  isAsync: boolean;
}

type ReadGraph = Graph & { issues: GraphIssue[] };

/** Of the cached graphs' JSON texts; their objects take a few times that. */
const CACHED_GRAPH_CHARS = 32 * 1024 * 1024;

const parseInputs = (json: string): Record<string, unknown> => {
  let inputs: unknown;
  try {
    inputs = JSON.parse(json);
  } catch {
    inputs = undefined;
  }
  if (!isRecord(inputs)) throw invalidInputs([{ path: "inputs", message: "must be an object" }]);
  return inputs;
};

const NODE_TYPE_BY_MODALITY: Readonly<Record<string, readonly [string, string, string]>> = {
  image: ["generate-image", "image", "images"],
  video: ["generate-video", "video", "videos"],
  audio: ["generate-audio", "audio", "audios"],
  text: ["llm-assistant", "text", "text"],
};

/** A direct run is the smallest graph: the model and what it returns. */
const directGraph = (model: CatalogModel, inputs: Record<string, unknown>): ReadGraph => {
  const [type, output, member] = NODE_TYPE_BY_MODALITY[model.modality]!;
  return {
    nodes: [
      { id: "model", type, data: { model: model.internalName, inputs } },
      { id: "output", type: "response-output", data: {} },
    ],
    edges: [{ id: randomUUID(), source: "model", target: "output", sourceHandle: output, targetHandle: member }],
    issues: [],
  };
};

const checkTier = (models: Iterable<CatalogModel>, runner: executions.Runner): void => {
  if (runner.role === "admin") return;
  for (const { internalName, minTier } of models) {
    if (!isBaseTier(minTier) || !isBaseTier(runner.baseTier) || tierReaches(runner.baseTier, minTier)) continue;
    throw new DomainError("forbidden", "MODEL_TIER_REQUIRED", `${internalName} needs the ${minTier} tier`, {
      model: internalName,
      requiredTier: minTier,
      tier: runner.tier,
    });
  }
};

const checkAsync = (models: Iterable<CatalogModel>): void => {
  for (const { internalName, providerKind } of models) {
    if (providerKind === "http-polling") continue;
    throw new DomainError("invalid", "ASYNC_NOT_SUPPORTED", `${internalName} can't run asynchronously`, { model: internalName });
  }
};

/** Issues that the error's text names; all of them are in its list. */
const NAMED_ISSUES = 10;

const invalidWorkflow = (graph: Graph, issues: GraphIssue[]): DomainError => {
  const labels = new Map(graph.nodes.map((node) => [node.id, labelOf(node)]));
  const named = issues
    .slice(0, NAMED_ISSUES)
    .map(({ nodeId, message }) => (nodeId === null ? message : `${nodeName(nodeId, labels.get(nodeId))}: ${message}`));
  const rest = issues.length - named.length;
  const text = `${named.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
  return new DomainError("precondition", "WORKFLOW_INVALID", `the workflow can't run: ${text}`, { issues });
};

/** The author of a template; what it says itself is read from it when that matters. */
const lenderOf = (graph: Graph, ownerId: string): Lender => {
  let ids: ReadonlySet<string> | undefined;
  return { ownerId, said: () => (ids ??= saidIds(graph)) };
};

/** A problem of the graph behind a direct run, as a problem of the inputs it was made of. */
const asInputIssue = ({ message }: GraphIssue): Issue => {
  const [, name, problem] = /^([\w-]+): (.*)$/s.exec(message) ?? [];
  return name === undefined ? { path: "inputs", message } : { path: `inputs.${name}`, message: problem! };
};

export type Planning = ReturnType<typeof createPlanning>;

/** Turns a request into a plan: definition and models are loaded, inputs checked, everything priced. Nothing is changed. */
export const createPlanning = ({ workflows, media, catalog }: { workflows: Workflows; media: Media; catalog: ModelCatalog }) => {
  const graphs = new LRUCache<string, { revision: number; graph: ReadGraph; createdBy: string; chars: number }>({
    maxSize: CACHED_GRAPH_CHARS,
    sizeCalculation: ({ chars }) => chars + 1,
  });

  const definition = async (slug: string, userId: string): Promise<{ graph: ReadGraph; createdBy: string }> => {
    const cached = graphs.get(slug);
    const answer = await workflows.getDefinition({ slug, userId, knownRevision: cached?.revision ?? 0 });
    if (answer.unchanged && cached) return cached;
    const { revision, createdBy, nodesJson, edgesJson } = answer;
    const read = { revision, createdBy, graph: readGraph(nodesJson, edgesJson), chars: nodesJson.length + edgesJson.length };
    graphs.set(slug, read);
    return read;
  };

  const planWorkflow = async (slug: string, { runner, inputsJson, isAsync }: PlanningRequest): Promise<PlannedRun> => {
    const { graph, createdBy } = await definition(slug, runner.userId);
    const lender = createdBy === runner.userId ? undefined : lenderOf(graph, createdBy);
    const find = findFiles(media, runner.userId, lender);
    const fields = inputFields(graph);
    const { values, issues } = resolveInputs(fields, parseInputs(inputsJson));
    if (issues.length > 0) throw invalidInputs(issues);
    const references = fields.filter((field) => uploadFamily(field) !== undefined && isMediaId(values.get(field.name)));
    const [models, uploads] = await Promise.all([
      catalog.getAll(modelNames(graph)),
      find([...mediaIds(graph), ...references.map((field) => values.get(field.name) as string)]),
    ]);
    for (const field of references) {
      const file = uploads.get(values.get(field.name) as string);
      const problem = file ? mediaProblem(uploadFamily(field)!, file) : "is not one of your media files";
      if (problem) throw invalidInputs([{ path: `inputs.${field.name}`, message: problem }]);
      values.set(field.name, file);
    }
    const request = { graph, inputs: values, models, media: uploads, markupPermille: runner.markupPermille };
    const planned = await planWithFiles(request, find);
    if (!planned.plan) throw invalidWorkflow(graph, planned.issues);
    return finish({ ...planned.plan, ...(await lentTo(planned.plan, lender)) }, models, slug, runner, isAsync);
  };

  /** What a plan takes along of the files of its template's author: those that may be meant only while it runs. */
  const lentTo = async (plan: RunPlan, lender: Lender | undefined): Promise<Pick<RunPlan, "lent">> => {
    const lent = lender ? await lentFiles(media, passedIds(plan), lender) : new Map<string, MediaValue>();
    return lent.size === 0 ? {} : { lent: Object.fromEntries(lent) };
  };

  /** Plans a run; what it turns out to need of files is looked up, all at once, and it is planned again. */
  const planWithFiles = async (request: PlanRequest, find: FindFiles): Promise<Planned> => {
    const planned = planRun(request);
    if (planned.plan || planned.unknownMedia.length === 0) return planned;
    const asked = planned.unknownMedia.filter((id) => !request.media.has(id));
    const found = await find(asked);
    return found.size === 0 ? planned : planRun({ ...request, media: new Map([...request.media, ...found]) });
  };

  const planModel = async (name: string, { runner, inputsJson, isAsync }: PlanningRequest): Promise<PlannedRun> => {
    const model = await catalog.get(name);
    const given = parseInputs(inputsJson);
    const problems: Issue[] = model
      .validate(given)
      .map((issue) => ({ path: issue.path ? `inputs.${issue.path}` : "inputs", message: issue.message }));
    if (problems.length > 0) throw invalidInputs(problems);
    const models = new Map([[name, model]]);
    const request = {
      graph: directGraph(model, given),
      inputs: new Map(),
      models,
      media: new Map<string, MediaValue>(),
      markupPermille: runner.markupPermille,
      // What the caller sends is meant as it is: a prompt may well speak of {{templates}}.
      verbatim: true,
    };
    const planned = await planWithFiles(request, findFiles(media, runner.userId, undefined));
    if (!planned.plan) throw invalidInputs(planned.issues.map(asInputIssue));
    return finish(planned.plan, models, null, runner, isAsync);
  };

  const finish = (
    plan: RunPlan,
    models: Map<string, CatalogModel>,
    workflowSlug: string | null,
    runner: executions.Runner,
    isAsync: boolean,
  ): PlannedRun => {
    checkTier(models.values(), runner);
    if (isAsync) checkAsync(models.values());
    const holds = holdItems(plan);
    return {
      plan,
      holds,
      workflowSlug,
      modelIds: Object.keys(plan.models),
    };
  };

  return {
    /**
     * @throws DomainError WORKFLOW_NOT_FOUND, MODEL_NOT_FOUND, INVALID_INPUTS, WORKFLOW_INVALID, MODEL_TIER_REQUIRED,
     * ASYNC_NOT_SUPPORTED or SERVICE_UNAVAILABLE.
     */
    plan: (request: PlanningRequest): Promise<PlannedRun> => {
      if (request.target?.$case === "workflowSlug") return planWorkflow(request.target.value, request);
      if (request.target?.$case === "model") return planModel(request.target.value, request);
      throw new DomainError("invalid", "INVALID_REQUEST", "a run needs a workflow or a model");
    },
  };
};
