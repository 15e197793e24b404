/** Plans runs: looks up what a plan needs, has the planner plan, and stores data URLs as files of the runner. */
import {
  ALL,
  DomainError,
  groupBy,
  holdItems,
  innerOwner,
  schemaOnlyPlan,
  taskOf,
  type DataFile,
  type HoldItem,
  type MediaValue,
  type RunPlan,
} from "@nodeloom/kernel";
import type { Media, Workflows } from "../clients";
import { type Autos, checkAsync, checkReady, checkTier, findModels, withAlternatives } from "./models";
import { createDataFiles, recordedInputs, takeOutDataUrls, type TakenOut } from "./data-urls";
import { createDefinitions } from "./definitions";
import type { KeptGraph, PinnedGraphs } from "./kept-graphs";
import { checkForeign, type RerunPlan, type PlannedReuse } from "./reruns";
import { findInlined, graphOf, keptOf } from "./inlined";
import { checkSending, files } from "./files";
import type { RequireSecrets } from "./secrets";
import { errorOf, withoutValues } from "../run/refusals";
import type { CatalogModel, ModelCatalog } from "./model-catalog";
import type { GivenOutputs, Missing, PlanAnswer, Planner, PlanTask, TaskGraph, TaskModel, WantedFile } from "./planner/protocol";
import { checkSetModels, withSettings } from "./settings";
import type { Runner, Target } from "../run/runner";

export interface PlannedRun {
  plan: RunPlan;
  holds: HoldItem[];
  workflowSlug: string | null;
  /** The published version of the workflow; none for the draft, and for models. */
  version?: number;
  modelIds: string[];
  /** The inputs as they are recorded: data URLs that became files are their addresses. */
  inputsJson: string;
  /** What ran, by a key that changes with it; none of a model's run. */
  graph?: { key: string; kept: KeptGraph };
  /** What pins it, workflows in it among them. */
  pinned?: PinnedGraphs;
  /** The node that it runs to; absent: everything. */
  until?: string;
  /** The JSON Schema of a text model's answer. */
  schemaJson?: string;
  /** Of a rerun. */
  reused?: PlannedReuse;
}

export interface PlanningRequest {
  target: Target | undefined;
  /** Of a workflow: a number, `draft`, or empty for the newest version, or the draft while there is none; `approved`: see `APPROVED_VERSION`. */
  version?: string;
  /** Of a workflow: the node that is run to; empty for everything. */
  until?: string;
  /** Of a text model: the JSON Schema of its answer; empty for text. */
  schemaJson?: string;
  runner: Runner;
  inputsJson: string;
  /** Of a workflow: settings by node id, over the graph's own, as JSON; empty for none. */
  settingsJson?: string;
  /** They were judged when the batch was ordered that this is an item of: another caller may have resumed it. */
  settingsApproved?: boolean;
  isAsync: boolean;
  /** The plan is not for a run: data URLs don't become files. */
  storesNothing?: boolean;
  /** Of a rerun. */
  rerun?: RerunPlan;
  /** Of an item of a batch. */
  pinned?: PinnedGraphs | undefined;
}

/** How often a plan may be missing something: whole inputs, files of inputs, files that values name, files of data URLs. */
const MOST_MISSING = 5;

const taskModel = ({ internalName, modality, providerKind, price, inputSchemaJson, outputs, fallback }: CatalogModel): TaskModel => ({
  internalName,
  modality,
  providerKind,
  price,
  inputSchemaJson,
  ...(outputs ? { outputs } : {}),
  ...(fallback && fallback.length > 0 ? { fallback } : {}),
});

/** What is known of a run before its plan says what is missing. */
interface Run {
  request: PlanningRequest;
  takenOut: TakenOut;
  models: ReadonlyMap<string, CatalogModel>;
  /** What tasks that the graph names have become. */
  autos?: Autos;
  /** Who made the workflow, where that is somebody else. */
  authorId?: string | undefined;
  /** The runner can't read the graph. */
  isHidden?: boolean;
  /** All enabled models, where one that the graph names is not among them. */
  modelNames?: string[];
}

const firstTask = (
  { request, takenOut, models, modelNames, autos }: Run,
  target: PlanTask["target"],
  given: GivenOutputs | undefined,
): PlanTask => ({
  target,
  inputsJson: takenOut.inputsJson,
  models: [...models.values()].map(taskModel),
  ...(modelNames ? { modelNames } : {}),
  ...(autos && autos.length > 0 ? { autos } : {}),
  media: [],
  lookedUp: [],
  markupPermille: request.runner.markupPermille,
  standIns: [...takenOut.urls.keys()],
  ...(request.storesNothing ? { storesNothing: true } : {}),
  ...(given ? { given } : {}),
});

export interface PlanningOptions {
  /** @throws DomainError SERVICE_UNAVAILABLE where a program that operations need is not there */
  requirePrograms: (operations: readonly string[]) => Promise<void>;
  requireSecrets: RequireSecrets;
  workflows: Workflows;
  media: Media;
  catalog: ModelCatalog;
  planner: Planner;
}

export type Planning = ReturnType<typeof createPlanning>;

/** Plans runs: looks up what a plan needs, and stores data URLs as files of the runner's. */
export const createPlanning = ({ workflows, media, requirePrograms, requireSecrets, catalog, planner }: PlanningOptions) => {
  const definitions = createDefinitions(workflows, planner);
  const storeData = createDataFiles({ media });

  /** Files that a plan asks for: the runner's, and those that may be the author's. */
  const findFiles = async (wanted: readonly WantedFile[], { request, authorId }: Run): Promise<[string, MediaValue][]> => {
    const { userId } = request.runner;
    const idsOf = (some: readonly WantedFile[]): string[] => some.map(({ id }) => id);
    const authors = wanted.filter(({ isAuthors }) => isAuthors);
    const inner = groupBy(
      wanted.filter(({ ownerId }) => ownerId !== undefined),
      ({ ownerId = "" }) => ownerId,
    );
    const found = await Promise.all([
      files(media, idsOf(authors), authorId ?? userId),
      ...[...inner].map(([ownerId, some]) => files(media, idsOf(some), ownerId)),
      files(media, idsOf(wanted), userId),
    ]);
    return found.flatMap((some) => [...some]);
  };

  /** Stores data URLs: the caller's as files of the caller's, and those that a graph says which the caller can't read as no account's. */
  const storeAll = async (
    urls: readonly string[],
    { takenOut, isHidden, request }: Run,
    inputsJson: string,
  ): Promise<[string, DataFile][]> => {
    const { userId } = request.runner;
    const isInner = (url: string): boolean => isHidden === true && !takenOut.urls.has(url) && !inputsJson.includes(url);
    const [own, inner] = [urls.filter((url) => !isInner(url)), urls.filter(isInner)];
    return [...(await storeData(own, takenOut.urls, userId)), ...(await storeData(inner, takenOut.urls, innerOwner(userId)))];
  };

  const complete = async (task: PlanTask, missing: Missing, run: Run): Promise<PlanTask> => {
    const { request } = run;
    if (missing.wholeInputs) return { ...task, inputsJson: request.inputsJson, standIns: [] };
    if (missing.data) return { ...task, data: await storeAll(missing.data, run, task.inputsJson) };
    const wanted = missing.media ?? [];
    return {
      ...task,
      media: [...task.media, ...(await findFiles(wanted, run))],
      lookedUp: [...task.lookedUp, ...wanted.map(({ id }) => id)],
    };
  };

  const planRun = async (
    run: Run,
    target: PlanTask["target"],
    given?: GivenOutputs,
  ): Promise<Extract<PlanAnswer, { answer: "plan" }> & { inputsJson: string }> => {
    const { inputsJson, runner } = run.request;
    let task = firstTask(run, target, given);
    for (let count = 0; count <= MOST_MISSING; count += 1) {
      const answer = await planner.plan(task, { userId: runner.userId });
      if (answer.answer === "error") throw errorOf(run.isHidden ? withoutValues(answer.error) : answer.error);
      if (answer.answer === "plan") {
        const { data } = task;
        return { ...answer, inputsJson: data ? recordedInputs(task.inputsJson, answer.fileInputs, new Map(data)) : inputsJson };
      }
      task = await complete(task, answer.missing, run);
    }
    throw new DomainError("internal", "INTERNAL", "a plan asks for more and more");
  };

  /** Files that nodes may turn out to be given: of the graph's owner, and of those of the graphs inside it. */
  const findAuthorFiles = async (
    { forwardedMediaIds, innerMediaIds = [] }: Extract<PlanAnswer, { answer: "plan" }>,
    authorId: string,
  ): Promise<Map<string, MediaValue>> => {
    const owners = groupBy(innerMediaIds, ([ownerId]) => ownerId);
    const found = await Promise.all([
      files(media, forwardedMediaIds, authorId),
      ...[...owners].map(([ownerId, own]) =>
        files(
          media,
          own.map(([, id]) => id),
          ownerId,
        ),
      ),
    ]);
    return new Map(found.flatMap((some) => [...some]));
  };

  const planWorkflow = async (slug: string, request: PlanningRequest): Promise<PlannedRun> => {
    const { version: selected = "", until: asked = "", settingsJson = "", runner, rerun } = request;
    const until = asked || (rerun?.until ?? "");
    const kept = rerun?.graph ?? request.pinned?.graph;
    const read = await definitions.read(slug, runner.userId, kept ? "" : selected);
    const defined = kept ? definitions.kept(read, kept) : read;
    const { saved, graphHidden, pinnedModels } = defined;
    const { version, createdBy } = saved;
    const isForeign = createdBy !== runner.userId;
    const savedGraph: TaskGraph = { ...graphOf(slug, defined), ...(until === "" ? {} : { until }) };
    const { userId } = runner;
    const capabilities = request.settingsApproved ? [ALL] : runner.capabilities;
    const graph = settingsJson === "" ? savedGraph : withSettings(savedGraph, settingsJson, { isForeign, capabilities });
    const { nodesJson, edgesJson } = graph;
    // What the saved graph needs is kept with it, and not what it needs with settings.
    const { needs: _, ...unread } = saved;
    const { models: own, workflows: references } = await definitions.needs(graph === savedGraph ? saved : unread, graph, userId);
    const inlining = { slug, selected, ownerId: createdBy, userId, references, pinned: request.pinned?.inner };
    const inlined = references.length === 0 ? undefined : await findInlined(definitions, inlining);
    const needed = inlined ? [...new Set([...own, ...inlined.models])] : own;
    const { models: named, autos } = await findModels(catalog, needed, { runner, pinnedModels });
    checkSetModels(settingsJson, autos, capabilities);
    const models = await withAlternatives(catalog, named, { runner, isAsync: request.isAsync, isWorkflow: true });
    const isUnknown = needed.some((name) => taskOf(name) === undefined && !models.has(name));
    const modelNames = isUnknown ? { modelNames: await catalog.names() } : {};
    if (isForeign) checkForeign(rerun, asked);
    const authorId = isForeign ? createdBy : undefined;
    const run: Run = {
      request,
      takenOut: takeOutDataUrls(request.inputsJson),
      models,
      autos,
      authorId,
      isHidden: graphHidden,
      ...modelNames,
    };
    const target = { graph, isForeign, ...(inlined ? { inner: inlined.inner, runnerId: userId } : {}) };
    const answer = await planRun(run, target);
    const authorFiles = await findAuthorFiles(answer, createdBy);
    const shown = (whole: RunPlan): RunPlan => (graphHidden ? schemaOnlyPlan(whole) : whole);
    const plan = {
      ...shown(answer.plan),
      ...(authorFiles.size === 0 ? {} : { authorFiles: Object.fromEntries(authorFiles) }),
      ...(inlined && !graphHidden ? { inlined: inlined.workflows } : {}),
    };
    const reused = await rerun?.reuse(plan, models, async (given) => shown((await planRun(run, target, given)).plan));
    return {
      ...(await finish({ ...answer, plan: reused?.plan ?? plan, ...(reused ? { reused } : {}) }, run, slug)),
      ...(version > 0 ? { version } : {}),
      ...(until === "" ? {} : { until }),
      graph: { key: graph.key, kept: { nodesJson, edgesJson, pinnedModels } },
      pinned: { graph: { ...keptOf(defined), version }, inner: inlined?.changing ?? {} },
    };
  };

  const planModel = async (name: string, request: PlanningRequest): Promise<PlannedRun> => {
    const { runner, isAsync } = request;
    const models = await withAlternatives(catalog, new Map([[name, await catalog.get(name)]]), { runner, isAsync, isWorkflow: false });
    const run: Run = { request, takenOut: takeOutDataUrls(request.inputsJson), models };
    const schemaJson = request.schemaJson || (request.rerun?.schemaJson ?? "");
    const target = { model: name, ...(schemaJson === "" ? {} : { schemaJson }) };
    const answer = await planRun(run, target);
    const reused = await request.rerun?.reuse(answer.plan, models, async (given) => (await planRun(run, target, given)).plan);
    const planned = await finish({ ...answer, plan: reused?.plan ?? answer.plan, ...(reused ? { reused } : {}) }, run, null);
    return { ...planned, ...(schemaJson === "" ? {} : { schemaJson }) };
  };

  const finish = async (
    { plan, inputsJson, reused }: { plan: RunPlan; inputsJson: string; reused?: PlannedReuse },
    { models, request: { runner, isAsync, storesNothing } }: Run,
    workflowSlug: string | null,
  ): Promise<PlannedRun> => {
    checkTier(models.values(), runner);
    await requireSecrets(plan, runner.userId);
    if (!storesNothing) {
      checkReady(plan, models);
      await requirePrograms(plan.steps.flatMap(({ operation }) => operation ?? []));
    }
    checkSending(plan, models);
    // Language models of a workflow are no generators: only what it generates must be polled.
    if (isAsync) checkAsync([...models.values()].filter(({ modality }) => workflowSlug === null || modality !== "text"));
    const holds = holdItems(plan).filter(({ key, alternativeTo }) => !reused?.free.has(alternativeTo ?? key));
    const modelIds = [...new Set(plan.steps.flatMap(({ model }) => model ?? []))];
    return { plan, holds, workflowSlug, modelIds, inputsJson, ...(reused ? { reused } : {}) };
  };

  return {
    /**
     * @throws DomainError WORKFLOW_NOT_FOUND, INVALID_REQUEST (no such node to run to), VERSION_NOT_FOUND, MODEL_NOT_FOUND, INVALID_INPUTS, WORKFLOW_INVALID, MODEL_TIER_REQUIRED, CAPABILITY_DENIED (settings),
     * ASYNC_NOT_SUPPORTED or SERVICE_UNAVAILABLE.
     */
    plan: (request: PlanningRequest): Promise<PlannedRun> => {
      if (request.target?.$case === "workflowSlug") return planWorkflow(request.target.value, request);
      if (request.target?.$case === "model") return planModel(request.target.value, request);
      throw new DomainError("invalid", "INVALID_REQUEST", "a run needs a workflow or a model");
    },
  };
};
