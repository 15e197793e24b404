/** Plans one run: calls the planner and looks up missing values until the plan is complete. */
import { DomainError, groupBy, innerOwner, type DataFile, type MediaValue } from "@nodeloom/kernel";
import type { Media } from "../clients";
import type { Autos, RetiredModels, Routes } from "./models";
import type { ArmOf, SelectedGraph } from "./definitions";
import { createDataFiles, recordedInputs, type TakenOut } from "./data-urls";
import type { PinnedGraphs } from "./kept-graphs";
import { type RerunPlan } from "./reruns";
import { type Grants, files } from "./files";
import { errorOf, withoutValues } from "../run/refusals";
import type { CatalogModel } from "./model-catalog";
import type { KnownOutputs, Missing, PlanAnswer, Planner, PlanTask, TaskModel, WantedFile } from "./planner/protocol";
import type { Runner, Target } from "../run/runner";

export interface PlanningRequest {
  target: Target | undefined;
  /**
   * For a workflow: a number, `draft`, `approved` (see `APPROVED_VERSION`), or empty for the alias.
   */
  version?: string;
  /** For a workflow: the alias to use if `version` is empty. With a version, the alias that selected it earlier. */
  alias?: string | undefined;
  /** For a workflow: last node to run; empty for all nodes. */
  until?: string;
  /** For a text model: JSON Schema of its answer; empty for text. */
  schemaJson?: string;
  /** For a run that a canary can get: selects its arm. Absent to use the version of the alias. */
  armOf?: ArmOf;
  runner: Runner;
  inputsJson: string;
  /** For a workflow: settings by node id that override the graph's, as JSON; empty for none. */
  settingsJson?: string;
  /** True for an item whose batch was checked when it was created; another caller may have resumed the batch. */
  settingsApproved?: boolean;
  isAsync: boolean;
  /** True if nothing is stored: data URLs don't become files. */
  storesNothing?: boolean;
  /** Set for a rerun. */
  rerun?: RerunPlan;
  /** A graph of the runner that isn't saved, planned instead of the workflow's. It can't be run. */
  unsaved?: { nodesJson: string; edgesJson: string };
  /** Set for an item of a batch. */
  pinned?: PinnedGraphs | undefined;
  /** The workflow as an earlier plan of the same batch has read it. */
  definition?: SelectedGraph | undefined;
}

/** Maximum rounds of missing values: whole inputs, files of inputs, files in values, files of data URLs. */
const MOST_MISSING = 5;

const taskModel = ({
  internalName,
  modality,
  providerKind,
  price,
  inputSchemaJson,
  outputs,
  fallback,
  ...rest
}: CatalogModel): TaskModel => ({
  internalName,
  modality,
  providerKind,
  price,
  inputSchemaJson,
  ...(outputs ? { outputs } : {}),
  ...(fallback && fallback.length > 0 ? { fallback } : {}),
  ...(rest.retiresOn === undefined ? {} : { retiresOn: rest.retiresOn }),
  ...(rest.successor === undefined ? {} : { successor: rest.successor }),
});

/** Data of a run before planning reports missing values. */
export interface UnplannedRun {
  request: PlanningRequest;
  takenOut: TakenOut;
  models: ReadonlyMap<string, CatalogModel>;
  autos?: Autos;
  routes?: Routes;
  /** Models of an earlier run or plan, by node. */
  keptModels?: Readonly<Record<string, string>>;
  retired?: RetiredModels;
  /** Author of the workflow, if the author isn't the runner. */
  authorId?: string | undefined;
  /** True if the runner can't read the graph. */
  isHidden?: boolean;
  /** Names of all enabled models, if the graph uses a model that isn't enabled. */
  modelNames?: string[];
}

const firstTask = (
  { request, takenOut, models, modelNames, autos, routes, keptModels, retired }: UnplannedRun,
  target: PlanTask["target"],
  reusedOutputs: KnownOutputs | undefined,
): PlanTask => ({
  target,
  inputsJson: takenOut.inputsJson,
  models: [...models.values()].map(taskModel),
  ...(modelNames ? { modelNames } : {}),
  ...(autos && autos.length > 0 ? { autos } : {}),
  ...(routes && routes.length > 0 ? { routes } : {}),
  ...(keptModels ? { keptModels: Object.entries(keptModels) } : {}),
  ...(retired && retired.length > 0 ? { retired } : {}),
  media: [],
  lookedUp: [],
  markupPermille: request.runner.markupPermille,
  standIns: [...takenOut.urls.keys()],
  ...(request.storesNothing ? { storesNothing: true } : {}),
  ...(reusedOutputs ? { knownOutputs: reusedOutputs } : {}),
});

export type RunPlanner = ReturnType<typeof createRunPlanner>;

export const createRunPlanner = ({ media, grants, planner }: { media: Media; grants: Grants; planner: Pick<Planner, "plan"> }) => {
  const storeData = createDataFiles({ media });

  /** Finds the files that a plan requests: the runner's files, and possibly the author's. */
  const findFiles = async (neededFiles: readonly WantedFile[], { request, authorId }: UnplannedRun): Promise<[string, MediaValue][]> => {
    const { userId } = request.runner;
    const idsOf = (some: readonly WantedFile[]): string[] => some.map(({ id }) => id);
    const authors = neededFiles.filter(({ isAuthors }) => isAuthors);
    const inner = groupBy(
      neededFiles.filter(({ ownerId }) => ownerId !== undefined),
      ({ ownerId = "" }) => ownerId,
    );
    const fileLists = await Promise.all([
      grants.authorsFiles(idsOf(authors), authorId ?? userId, userId),
      ...[...inner].map(([ownerId, some]) => grants.authorsFiles(idsOf(some), ownerId, userId)),
      files(media, idsOf(neededFiles), userId),
    ]);
    return fileLists.flatMap((some) => [...some]);
  };

  /**
   * Stores data URLs. Data URLs of the caller become the caller's files. Data URLs in a graph that the caller can't read belong to no
   * account.
   */
  const storeAll = async (
    urls: readonly string[],
    { takenOut, isHidden, request }: UnplannedRun,
    inputsJson: string,
  ): Promise<[string, DataFile][]> => {
    const { userId } = request.runner;
    const isInner = (url: string): boolean => isHidden === true && !takenOut.urls.has(url) && !inputsJson.includes(url);
    const [own, inner] = [urls.filter((url) => !isInner(url)), urls.filter(isInner)];
    return [...(await storeData(own, takenOut.urls, userId)), ...(await storeData(inner, takenOut.urls, innerOwner(userId)))];
  };

  const complete = async (task: PlanTask, missing: Missing, run: UnplannedRun): Promise<PlanTask> => {
    const { request } = run;
    if (missing.wholeInputs) return { ...task, inputsJson: request.inputsJson, standIns: [] };
    if (missing.data) return { ...task, data: await storeAll(missing.data, run, task.inputsJson) };
    const neededFiles = missing.media ?? [];
    return {
      ...task,
      media: [...task.media, ...(await findFiles(neededFiles, run))],
      lookedUp: [...task.lookedUp, ...neededFiles.map(({ id }) => id)],
    };
  };

  const planRun = async (
    run: UnplannedRun,
    target: PlanTask["target"],
    reusedOutputs?: KnownOutputs,
  ): Promise<Extract<PlanAnswer, { answer: "plan" }> & { inputsJson: string }> => {
    const { inputsJson, runner } = run.request;
    let task = firstTask(run, target, reusedOutputs);
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

  /** Finds the files that nodes may receive: files of the graph's owner and of the owners of inlined graphs. */
  const findAuthorFiles = async (
    { forwardedMediaIds, innerMediaIds = [] }: Extract<PlanAnswer, { answer: "plan" }>,
    authorId: string,
    userId: string,
  ): Promise<Map<string, MediaValue>> => {
    const owners = groupBy(innerMediaIds, ([ownerId]) => ownerId);
    const fileLists = await Promise.all([
      grants.authorsFiles(forwardedMediaIds, authorId, userId),
      ...[...owners].map(([ownerId, own]) =>
        grants.authorsFiles(
          own.map(([, id]) => id),
          ownerId,
          userId,
        ),
      ),
    ]);
    return new Map(fileLists.flatMap((some) => [...some]));
  };

  return { planRun, findAuthorFiles };
};
