/** Plans runs: looks up the data that a plan needs, calls the planner, and stores data URLs as files of the runner. */
import {
  ALL,
  DomainError,
  holdItems,
  invalidRequest,
  isRefusal,
  leastRetention,
  schemaOnlyPlan,
  taskOf,
  waitsForDecision,
  type HoldItem,
  type MediaUrls,
  type RunPlan,
} from "@nodeloom/kernel";
import type { Media, Workflows } from "../clients";
import { checkAsync, checkReady, checkTier, findModels, pinnedModel, routedModels, usedModels, withAlternatives } from "./models";
import { takeOutDataUrls } from "./data-urls";
import { type PlannedCanary, createDefinitions, type SelectedGraph, type GraphSelection } from "./definitions";
import { type KeptGraph, type PinnedGraphs, createPinnedReads } from "./kept-graphs";
import { createGrants, checkSending } from "./files";
import { checkForeign, type PlannedReuse } from "./reruns";
import { createFindNeeds, type GraphNeeds, graphOf, keptOf } from "./inlined";
import { createRunPlanner, type PlanningRequest, type UnplannedRun } from "./run-plan";
import type { Runner } from "../run/runner";
import { TIMING } from "../run/timing";
import type { RequireSecrets } from "./secrets";
import type { ModelCatalog } from "./model-catalog";
import type { Measure } from "./measures";
import type { Planner, TaskGraph } from "./planner/protocol";
import { checkSetModels, withSettings } from "./settings";

export type { PlanningRequest } from "./run-plan";

export interface PlannedRun {
  plan: RunPlan;
  holds: HoldItem[];
  workflowSlug: string | null;
  /** Published version; undefined for the draft and for models. */
  version?: number;
  /** Alias that selected the version; undefined for the draft, for models, and for a version selected by number. */
  alias?: string;
  modelIds: string[];
  /** Inputs to record, with addresses instead of data URLs. */
  inputsJson: string;
  /** The graph with its cache key; undefined for models. */
  graph?: { key: string; savedGraph: KeptGraph };
  /** Pins the graph and its inner workflows. */
  pinned?: PinnedGraphs;
  /** The workflow as it was read. Other plans of the same batch needn't read it again. */
  definition?: SelectedGraph;
  /** Last node to run; undefined for all nodes. */
  until?: string;
  /** JSON Schema of a text model's answer. */
  schemaJson?: string;
  reused?: PlannedReuse;
  /** Retention in days set by the workflow or the rerun's source; undefined for the installation's default. */
  retentionDays?: number | undefined;
  /** Set if the alias has a canary and the request selects an arm. */
  canary?: PlannedCanary;
}

export interface PlanningOptions {
  /** @throws DomainError SERVICE_UNAVAILABLE if a program for the operations is missing */
  requirePrograms: (operations: readonly string[]) => Promise<void>;
  requireSecrets: RequireSecrets;
  workflows: Pick<Workflows, "getDefinition">;
  media: Media;
  urls: MediaUrls;
  catalog: ModelCatalog;
  measure: Measure;
  planner: Planner;
}

const NUMBER = /^\d+$/;

/** The pinned graphs that a plan uses. A rerun uses the graph of its source. */
const usedPins = ({ pinned, rerun }: PlanningRequest): PinnedGraphs | undefined => (rerun?.graph ? undefined : pinned);

/** A key with an alias can run workflows only by that alias. @throws DomainError INVALID_REQUEST */
export const requireKeyAlias = ({ keyAlias = "" }: Pick<Runner, "keyAlias">, alias: string): void => {
  if (keyAlias === "" || keyAlias === alias) return;
  throw invalidRequest([{ path: "alias", message: `must be ${keyAlias}: this API key runs workflows by that alias only` }]);
};

export type Planning = ReturnType<typeof createPlanning>;

export const createPlanning = (options: PlanningOptions) => {
  const { workflows, media, urls, requirePrograms, requireSecrets, catalog, measure, planner } = options;
  const grants = createGrants({ media, urls });
  const definitions = createDefinitions({ workflows, planner, urls });
  const findNeeds = createFindNeeds(definitions, grants);
  const { planRun, findAuthorFiles } = createRunPlanner({ media, grants, planner });
  const pinnedDefinitions = createPinnedReads<SelectedGraph>(TIMING.batchRunner);
  const pinnedNeeds = createPinnedReads<GraphNeeds>(TIMING.batchRunner);

  const planWorkflow = async (slug: string, request: PlanningRequest): Promise<PlannedRun> => {
    const { version = "", runner, unsaved, rerun, armOf } = request;
    if (request.definition && !rerun?.graph) return planDefined(slug, request, request.definition);
    const keptGraph = rerun?.graph ?? request.pinned?.graph;
    const selected = keptGraph ? { version: "" } : { version, alias: request.alias };
    const base = await pinnedDefinitions(usedPins(request), async () => {
      const definition = unsaved ? definitions.unsaved(runner.userId, unsaved) : await definitions.read(slug, runner.userId, selected);
      return keptGraph ? definitions.saved(definition, keptGraph) : definition;
    });
    const share = rerun || request.pinned ? undefined : base.canary;
    if (!share || !armOf) return planDefined(slug, request, base);
    const canary: PlannedCanary = { id: share.id, arm: armOf(share), isLimited: share.isLimited };
    if (canary.arm === "base") return { ...(await planDefined(slug, request, base)), canary };
    try {
      const { alias } = base;
      const other = { ...(await definitions.read(slug, runner.userId, { version: String(share.version) })), alias };
      return { ...(await planDefined(slug, request, other)), canary };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // If the alias's version can be planned, the canary's is at fault, and the caller doesn't notice.
      return { ...(await planDefined(slug, request, base)), canary: { ...canary, isUnplanned: true } };
    }
  };

  const planDefined = async (slug: string, request: PlanningRequest, defined: SelectedGraph): Promise<PlannedRun> => {
    const { version: asVersion = "", until: untilNode = "", settingsJson = "", runner, rerun } = request;
    const selected: GraphSelection = { version: asVersion, alias: request.alias };
    const until = untilNode || (rerun?.until ?? "");
    const keptGraph = rerun?.graph ?? request.pinned?.graph;
    const { saved, graphHidden, pinnedModels, retentionDays } = defined;
    const { version, createdBy } = saved;
    // A stored graph or a version number was selected earlier, so the alias comes from the request.
    const alias = keptGraph || NUMBER.test(asVersion) ? (request.alias ?? "") : defined.alias;
    if (!request.unsaved) requireKeyAlias(runner, alias);
    const isForeign = createdBy !== runner.userId;
    const savedGraph: TaskGraph = { ...graphOf(slug, defined), ...(until === "" ? {} : { until }) };
    const { userId } = runner;
    const capabilities = request.settingsApproved ? [ALL] : runner.capabilities;
    const graph = settingsJson === "" ? savedGraph : withSettings(savedGraph, settingsJson, { isForeign, capabilities });
    const { nodesJson, edgesJson } = graph;
    // Requirements are cached only with the saved graph, without overriding settings.
    const { needs: _, ...unread } = saved;
    const inlining = { slug, selected, ownerId: createdBy, userId, pinned: request.pinned?.inner };
    const isSaved = graph === savedGraph;
    const { models: needed, inlined } = await pinnedNeeds(isSaved ? usedPins(request) : undefined, () =>
      findNeeds(isSaved ? saved : unread, graph, inlining),
    );
    const foundModels = await findModels(catalog, needed, { runner, pinnedModels, measure });
    const { models: namedModels, candidates, autos, routes, retired } = foundModels;
    const use = { runner, isAsync: request.isAsync, isWorkflow: true };
    const models = await withAlternatives(catalog, new Map([...namedModels, ...candidates]), use);
    const isUnknown = needed.some((name) => taskOf(name) === undefined && !models.has(name));
    const modelNames = isUnknown ? { modelNames: await catalog.names() } : {};
    if (isForeign) checkForeign(rerun, untilNode);
    const authorId = isForeign ? createdBy : undefined;
    const run: UnplannedRun = {
      request,
      takenOut: takeOutDataUrls(request.inputsJson),
      models,
      autos,
      routes,
      ...(rerun?.keptModels ? { keptModels: rerun.keptModels } : {}),
      retired,
      authorId,
      isHidden: graphHidden,
      ...modelNames,
    };
    const target = { graph, isForeign, ...(inlined ? { inner: inlined.inner, runnerId: userId } : {}) };
    checkSetModels(settingsJson, capabilities, (_id, name) => (taskOf(name) === undefined ? name : undefined));
    const answer = await planRun(run, target);
    const modelsByNode = routedModels(answer.plan);
    checkSetModels(settingsJson, capabilities, (id, name) =>
      taskOf(name) === undefined ? undefined : (modelsByNode[id] ?? pinnedModel(autos, name)),
    );
    const authorFiles = await findAuthorFiles(answer, createdBy, userId);
    const shownPlan = (whole: RunPlan): RunPlan => (graphHidden ? schemaOnlyPlan(whole) : whole);
    const inner = inlined?.inner.definitions ?? [];
    const isOwn = !isForeign && inner.every(({ ownerId }) => ownerId === userId);
    const isPublished = version > 0 && (inlined?.workflows ?? []).every((one) => (one.version ?? 0) > 0);
    const mailsApprovers = isOwn && isPublished && answer.plan.steps.some(({ type }) => waitsForDecision(type));
    const plan = {
      ...shownPlan(answer.plan),
      ...(mailsApprovers ? { mailsApprovers: true as const } : {}),
      ...(authorFiles.size === 0 ? {} : { authorFiles: Object.fromEntries(authorFiles) }),
      ...(inlined && !graphHidden ? { inlined: inlined.workflows } : {}),
    };
    const reused = await rerun?.reuse(plan, models, async (reusedOutputs) =>
      shownPlan((await planRun({ ...run, keptModels: modelsByNode }, target, reusedOutputs)).plan),
    );
    return {
      ...(await finish(
        { ...answer, alias, plan: reused?.plan ?? plan, ...(reused ? { reused } : {}) },
        { ...run, models: usedModels(models, foundModels, modelsByNode) },
        slug,
      )),
      ...(version > 0 ? { version } : {}),
      ...(alias === "" ? {} : { alias }),
      ...(until === "" ? {} : { until }),
      retentionDays: leastRetention(retentionDays, rerun?.retentionDays),
      graph: { key: graph.key, savedGraph: { nodesJson, edgesJson, pinnedModels } },
      pinned: { graph: { ...keptOf(defined), version }, inner: inlined?.changing ?? {} },
      definition: defined,
    };
  };

  const planModel = async (name: string, request: PlanningRequest): Promise<PlannedRun> => {
    const { runner, isAsync } = request;
    const models = await withAlternatives(catalog, new Map([[name, await catalog.get(name)]]), { runner, isAsync, isWorkflow: false });
    const run: UnplannedRun = { request, takenOut: takeOutDataUrls(request.inputsJson), models };
    const schemaJson = request.schemaJson || (request.rerun?.schemaJson ?? "");
    const target = { model: name, ...(schemaJson === "" ? {} : { schemaJson }) };
    const answer = await planRun(run, target);
    const reused = await request.rerun?.reuse(
      answer.plan,
      models,
      async (reusedOutputs) => (await planRun(run, target, reusedOutputs)).plan,
    );
    const planned = await finish({ ...answer, plan: reused?.plan ?? answer.plan, ...(reused ? { reused } : {}) }, run, null);
    const { retentionDays } = request.rerun ?? {};
    return { ...planned, ...(schemaJson === "" ? {} : { schemaJson }), retentionDays };
  };

  const finish = async (
    { plan, inputsJson, reused, alias = "" }: { plan: RunPlan; inputsJson: string; reused?: PlannedReuse; alias?: string },
    { models, request: { runner, isAsync, storesNothing } }: UnplannedRun,
    workflowSlug: string | null,
  ): Promise<PlannedRun> => {
    checkTier(models.values(), runner);
    await requireSecrets(plan, { userId: runner.userId, alias, workflowSlug });
    if (!storesNothing) {
      checkReady(plan, models);
      await requirePrograms(plan.steps.flatMap(({ operation }) => operation ?? []));
    }
    checkSending(plan, models);
    // An asynchronous workflow can contain language models. Only its generators must be polled.
    if (isAsync) checkAsync([...models.values()].filter(({ modality }) => workflowSlug === null || modality !== "text"));
    const holds = holdItems(plan).filter(({ key, alternativeTo }) => !reused?.free.has(alternativeTo ?? key));
    const modelIds = [...new Set(plan.steps.flatMap(({ model }) => model ?? []))];
    return { plan, holds, workflowSlug, modelIds, inputsJson, ...(reused ? { reused } : {}) };
  };

  return {
    /**
     * @throws DomainError WORKFLOW_NOT_FOUND, INVALID_REQUEST (the node to run to doesn't exist), VERSION_NOT_FOUND, ALIAS_NOT_FOUND,
     *   MODEL_NOT_FOUND, INVALID_INPUTS, WORKFLOW_INVALID, MODEL_TIER_REQUIRED, CAPABILITY_DENIED (settings), ASYNC_NOT_SUPPORTED or
     *   SERVICE_UNAVAILABLE
     */
    plan: (sentRequest: PlanningRequest): Promise<PlannedRun> => {
      const request = { ...sentRequest, inputsJson: urls.current(sentRequest.inputsJson) };
      if (request.target?.$case === "workflowSlug") return planWorkflow(request.target.value, request);
      if (request.target?.$case === "model") return planModel(request.target.value, request);
      throw new DomainError("invalid", "INVALID_REQUEST", "a run needs a workflow or a model");
    },
  };
};
