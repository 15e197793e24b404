import { DomainError, holdItems, isBaseTier, tierReaches, type HoldItem, type MediaValue, type RunPlan } from "@nodeloom/kernel";
import { createSharedReads } from "@nodeloom/platform";
import type { executions, workflows as workflowsProto } from "@nodeloom/proto";
import { LRUCache } from "lru-cache";
import type { Media, Workflows } from "../clients";
import { isBrief } from "./planner/brief";
import { createDataFiles, recordedInputs, takeOutDataUrls, type TakenOut } from "./data-urls";
import { files } from "./files";
import { errorOf } from "../run/refusals";
import type { CatalogModel, ModelCatalog } from "./model-catalog";
import type { Lookup, PlanAnswer, Planner, PlanTask, TaskGraph, TaskModel, WantedFile } from "./planner/protocol";

export interface PlannedRun {
  plan: RunPlan;
  holds: HoldItem[];
  workflowSlug: string | null;
  /** The published version of the workflow; none for the draft, and for models. */
  version?: number;
  modelIds: string[];
  /** The inputs as they are recorded: data URLs that became files are their addresses. */
  inputsJson: string;
}

export interface PlanningRequest {
  target: executions.Target["target"];
  /** Of a workflow: a number, `draft`, or empty for the newest version, or the draft while there is none. */
  version?: string;
  /** Of a workflow: the node that is run to; empty for everything. */
  until?: string;
  runner: executions.Runner;
  inputsJson: string;
  isAsync: boolean;
  /** The plan is not for a run: data URLs don't become files. */
  storesNothing?: boolean;
}

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

/** A saved graph as it was read, and what planning it has asked for before. */
interface Definition {
  /** 0: the draft. */
  version: number;
  revision: number;
  createdBy: string;
  nodesJson: string;
  edgesJson: string;
  isBrief: boolean;
  lookup?: Lookup;
}

/** Of the cached definitions' JSON texts. */
const CACHED_CHARS = 32 * 1024 * 1024;
/** Models, files that the graph names, files that its values name, its texts, whole inputs, and files of data URLs: a plan asks for each once. */
const MAX_ROUNDS = 8;

const textsOf = ({ nodesJson, edgesJson }: Definition): TaskGraph["texts"] => ({ nodesJson, edgesJson });

const idsOf = (wanted: readonly WantedFile[]): string[] => wanted.map(({ id }) => id);

const taskModel = ({ internalName, modality, providerKind, price, inputSchemaJson }: CatalogModel): TaskModel => ({
  internalName,
  modality,
  providerKind,
  price,
  inputSchemaJson,
});

/** What a request gives, and has looked up nothing yet. */
const blankTask = ({ inputsJson, urls }: TakenOut, { runner, storesNothing }: PlanningRequest): Omit<PlanTask, "target"> => ({
  inputsJson,
  models: null,
  media: [],
  lookedUp: [],
  markupPermille: runner.markupPermille,
  standIns: [...urls.keys()],
  ...(storesNothing ? { storesNothing } : {}),
});

/** Whether a task is about everything that its graph has. */
const isWhole = ({ target }: PlanTask): boolean => "graph" in target && target.graph.until === undefined;

/** What a plan is made of besides its request. */
interface Asked {
  request: PlanningRequest;
  taken: TakenOut;
  saved?: Definition;
  authorId?: string | undefined;
  models: Map<string, CatalogModel>;
}

export interface PlanningOptions {
  workflows: Workflows;
  media: Media;
  catalog: ModelCatalog;
  planner: Planner;
}

export type Planning = ReturnType<typeof createPlanning>;

/** Turns a request into a plan: what the planner asks for is looked up, everything is priced. Nothing is changed, but that data URLs become files. */
export const createPlanning = ({ workflows, media, catalog, planner }: PlanningOptions) => {
  const definitions = new LRUCache<string, Definition>({
    maxSize: CACHED_CHARS,
    sizeCalculation: ({ nodesJson, edgesJson }) => nodesJson.length + edgesJson.length + 1,
  });

  const storeData = createDataFiles({ media });
  const reads = createSharedReads<workflowsProto.GetDefinitionResponse>();

  const definition = async (slug: string, userId: string, selected: string): Promise<Definition> => {
    const key = `${slug} ${selected}`;
    const cached = definitions.get(key);
    const knownRevision = cached?.revision ?? 0;
    const answer = await reads(`${userId} ${key} ${knownRevision}`, () =>
      workflows.getDefinition({ slug, userId, knownRevision, version: selected }),
    );
    const { version, revision, createdBy, nodesJson, edgesJson } = answer;
    // A version and the draft that it was have the same graph and the same revision.
    if (answer.unchanged && cached) return Object.assign(cached, { version });
    const read = { version, revision, createdBy, nodesJson, edgesJson, isBrief: isBrief(answer) };
    definitions.set(key, read);
    return read;
  };

  /** Files that a plan asks for: the runner's and, in somebody else's template, those that it says itself. */
  const findWanted = async (wanted: readonly WantedFile[], userId: string, authorId: string = userId): Promise<[string, MediaValue][]> => {
    const literal = wanted.filter(({ isLiteral }) => isLiteral);
    const [authors, own] = await Promise.all([files(media, idsOf(literal), authorId), files(media, idsOf(wanted), userId)]);
    return [...new Map([...authors, ...own])];
  };

  /** Asks the planner until nothing is missing. */
  const planTask = async (first: PlanTask, asked: Asked): Promise<Extract<PlanAnswer, { answer: "plan" }> & { inputsJson: string }> => {
    const { request, taken, saved } = asked;
    const { inputsJson } = request;
    const { userId } = request.runner;
    let task = first;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const answer = await planner(task, { userId });
      switch (answer.answer) {
        case "error":
          throw errorOf(answer.error);
        case "texts":
          if ("graph" in task.target) task = { ...task, target: { graph: { ...task.target.graph, texts: textsOf(saved!) } } };
          break;
        case "whole":
          task = { ...task, inputsJson, standIns: [] };
          break;
        case "lookup": {
          const { lookup } = answer;
          if (saved && task.models === null && isWhole(task)) saved.lookup = lookup;
          task = await lookUp(task, lookup, asked);
          if (lookup.data) task = { ...task, data: await storeData(lookup.data, taken.urls, userId) };
          break;
        }
        case "plan": {
          const { data } = task;
          return { ...answer, inputsJson: data ? recordedInputs(task.inputsJson, answer.fileInputs, new Map(data)) : inputsJson };
        }
      }
    }
    throw new DomainError("internal", "INTERNAL", "a plan asks for more and more");
  };

  /** The task with what was asked for. */
  const lookUp = async (task: PlanTask, lookup: Lookup, { request: { runner }, authorId, models }: Asked): Promise<PlanTask> => {
    const [found, uploads] = await Promise.all([
      task.models === null ? catalog.getAll(lookup.models) : models,
      findWanted(lookup.media, runner.userId, authorId),
    ]);
    for (const [name, model] of found) models.set(name, model);
    return {
      ...task,
      models: [...models.values()].map(taskModel),
      media: [...task.media, ...uploads],
      lookedUp: [...task.lookedUp, ...idsOf(lookup.media)],
    };
  };

  const planWorkflow = async (slug: string, request: PlanningRequest): Promise<PlannedRun> => {
    const { version: selected = "", until = "", runner } = request;
    const saved = await definition(slug, runner.userId, selected);
    const { version } = saved;
    const authorId = saved.createdBy === runner.userId ? undefined : saved.createdBy;
    const graph: TaskGraph = {
      key: `${slug}@${saved.revision}`,
      isBrief: saved.isBrief,
      isForeign: authorId !== undefined,
      ...(until === "" ? {} : { until }),
    };
    const taken = takeOutDataUrls(request.inputsJson);
    const asked: Asked = { request, taken, saved, authorId, models: new Map() };
    const blank = { ...blankTask(taken, request), target: { graph } };
    // What planning this graph needed before is looked up first. Files are left to a round of their own: whose they are depends on the runner.
    // A part of the graph may need less, and is judged by what it needs.
    const task = saved.lookup && until === "" ? await lookUp(blank, { ...saved.lookup, media: [] }, asked) : blank;
    const answer = await planTask(task, asked);
    const { plan, forwardedMediaIds } = answer;
    const authorFiles = await files(media, forwardedMediaIds, saved.createdBy);
    const withFiles = authorFiles.size === 0 ? plan : { ...plan, authorFiles: Object.fromEntries(authorFiles) };
    return { ...finish({ ...answer, plan: withFiles }, asked, slug), ...(version > 0 ? { version } : {}) };
  };

  const planModel = async (name: string, request: PlanningRequest): Promise<PlannedRun> => {
    const model = await catalog.get(name);
    const asked: Asked = { request, taken: takeOutDataUrls(request.inputsJson), models: new Map([[name, model]]) };
    const task = { ...blankTask(asked.taken, request), target: { model: name }, models: [taskModel(model)] };
    return finish(await planTask(task, asked), asked, null);
  };

  const finish = (
    { plan, inputsJson }: { plan: RunPlan; inputsJson: string },
    { models, request: { runner, isAsync } }: Asked,
    workflowSlug: string | null,
  ): PlannedRun => {
    checkTier(models.values(), runner);
    // Language models of a workflow are no generators: only what it generates must be polled.
    if (isAsync) checkAsync([...models.values()].filter(({ modality }) => workflowSlug === null || modality !== "text"));
    return { plan, holds: holdItems(plan), workflowSlug, modelIds: Object.keys(plan.models), inputsJson };
  };

  return {
    /**
     * @throws DomainError WORKFLOW_NOT_FOUND, INVALID_REQUEST (no such node to run to), VERSION_NOT_FOUND, MODEL_NOT_FOUND, INVALID_INPUTS, WORKFLOW_INVALID, MODEL_TIER_REQUIRED,
     * ASYNC_NOT_SUPPORTED or SERVICE_UNAVAILABLE.
     */
    plan: (request: PlanningRequest): Promise<PlannedRun> => {
      if (request.target?.$case === "workflowSlug") return planWorkflow(request.target.value, request);
      if (request.target?.$case === "model") return planModel(request.target.value, request);
      throw new DomainError("invalid", "INVALID_REQUEST", "a run needs a workflow or a model");
    },
  };
};
