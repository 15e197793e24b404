import { randomUUID } from "node:crypto";
import {
  DomainError,
  holdItems,
  inputFields,
  invalidInputs,
  isBaseTier,
  isRecord,
  mediaIds,
  modelNames,
  planRun,
  readGraph,
  resolveInputs,
  tierReaches,
  type Graph,
  type GraphIssue,
  type HoldItem,
  type Issue,
  type MediaValue,
  type RunPlan,
} from "@nodeloom/kernel";
import type { executions } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Media, Workflows } from "./clients";
import type { CatalogModel, ModelCatalog } from "./model-catalog";

export interface PlannedRun {
  plan: RunPlan;
  holds: HoldItem[];
  workflowSlug: string | null;
  modelIds: string[];
  maxMillicredits: number;
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
const UPLOAD_TYPES = new Set(["image_upload", "video_upload", "audio_upload"]);
const MEDIA_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

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

const invalidWorkflow = (issues: GraphIssue[]): DomainError =>
  new DomainError(
    "precondition",
    "WORKFLOW_INVALID",
    `the workflow can't run: ${issues.map(({ nodeId, message }) => (nodeId ? `${nodeId}: ${message}` : message)).join("; ")}`,
    {
      issues,
    },
  );

export type Planning = ReturnType<typeof createPlanning>;

/** Turns a request into a plan: definition and models are loaded, inputs checked, everything priced. Nothing is changed. */
export const createPlanning = ({ workflows, media, catalog }: { workflows: Workflows; media: Media; catalog: ModelCatalog }) => {
  const graphs = new LRUCache<string, { revision: number; graph: ReadGraph; chars: number }>({
    maxSize: CACHED_GRAPH_CHARS,
    sizeCalculation: ({ chars }) => chars + 1,
  });

  const definition = async (slug: string, userId: string): Promise<ReadGraph> => {
    const cached = graphs.get(slug);
    const answer = await workflows.getDefinition({ slug, userId, knownRevision: cached?.revision ?? 0 });
    if (answer.unchanged && cached) return cached.graph;
    const graph = readGraph(answer.nodesJson, answer.edgesJson);
    graphs.set(slug, { revision: answer.revision, graph, chars: answer.nodesJson.length + answer.edgesJson.length });
    return graph;
  };

  /** Uploaded files by id; ids that are not the user's are left out. */
  const files = async (ids: readonly string[], userId: string): Promise<Map<string, MediaValue>> => {
    const found = await Promise.all(
      [...new Set(ids)].map((id) =>
        media.getObject({ id, ownerId: userId }).then(
          ({ object }): [string, MediaValue][] => (object ? [[id, { url: object.url, contentType: object.contentType }]] : []),
          (error: unknown) => {
            if (error instanceof DomainError && error.kind === "not_found") return [];
            throw error;
          },
        ),
      ),
    );
    return new Map(found.flat());
  };

  const isMediaId = (value: unknown): value is string => typeof value === "string" && !URL.canParse(value) && MEDIA_ID.test(value);

  const planWorkflow = async (slug: string, { runner, inputsJson, isAsync }: PlanningRequest): Promise<PlannedRun> => {
    const graph = await definition(slug, runner.userId);
    const fields = inputFields(graph);
    const { values, issues } = resolveInputs(fields, parseInputs(inputsJson));
    if (issues.length > 0) throw invalidInputs(issues);
    const references = fields.filter((field) => UPLOAD_TYPES.has(field.type) && isMediaId(values.get(field.name)));
    const [models, uploads] = await Promise.all([
      catalog.getAll(modelNames(graph)),
      files([...mediaIds(graph), ...references.map((field) => values.get(field.name) as string)], runner.userId),
    ]);
    for (const field of references) {
      const file = uploads.get(values.get(field.name) as string);
      if (!file) throw invalidInputs([{ path: `inputs.${field.name}`, message: "is not one of your media files" }]);
      values.set(field.name, file);
    }
    const planned = planRun({ graph, inputs: values, models, media: uploads, markupPermille: runner.markupPermille });
    if (!planned.plan) throw invalidWorkflow(planned.issues);
    return finish(planned.plan, models, slug, runner, isAsync);
  };

  const resolveModelMedia = async (
    model: CatalogModel,
    inputs: Record<string, unknown>,
    userId: string,
  ): Promise<Record<string, unknown>> => {
    const properties = isRecord(model.inputSchema.properties) ? model.inputSchema.properties : {};
    const names = Object.keys(inputs).filter(
      (name) => isRecord(properties[name]) && properties[name].format === "media" && isMediaId(inputs[name]),
    );
    if (names.length === 0) return inputs;
    const uploads = await files(
      names.map((name) => inputs[name] as string),
      userId,
    );
    return Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => {
        if (!names.includes(name)) return [name, value];
        const file = uploads.get(value as string);
        if (!file) throw invalidInputs([{ path: `inputs.${name}`, message: "is not one of your media files" }]);
        return [name, file.url];
      }),
    );
  };

  const planModel = async (name: string, { runner, inputsJson, isAsync }: PlanningRequest): Promise<PlannedRun> => {
    const model = await catalog.get(name);
    const given = parseInputs(inputsJson);
    const problems: Issue[] = model
      .validate(given)
      .map((issue) => ({ path: issue.path ? `inputs.${issue.path}` : "inputs", message: issue.message }));
    if (problems.length > 0) throw invalidInputs(problems);
    const inputs = await resolveModelMedia(model, given, runner.userId);
    const models = new Map([[name, model]]);
    const planned = planRun({
      graph: directGraph(model, inputs),
      inputs: new Map(),
      models,
      media: new Map(),
      markupPermille: runner.markupPermille,
      // What the caller sends is meant as it is: a prompt may well speak of {{templates}}.
      verbatim: true,
    });
    if (!planned.plan) throw invalidInputs(planned.issues.map(({ message }) => ({ path: "inputs", message })));
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
      maxMillicredits: holds.reduce((sum, item) => sum + item.maxMillicredits, 0),
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
