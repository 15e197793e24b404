import {
  withHiddenOutputs,
  forwardedMediaIds,
  inputFields,
  invalidInputs,
  invalidRequest,
  isMediaId,
  literalMediaIds,
  mediaIds,
  mediaProblem,
  resolveInputs,
  shownName,
  uploadFamily,
  upToNode,
  withChosenModels,
  type DataFile,
  type Graph,
  type GraphIssue,
  type InputField,
  type MediaValue,
  type ModelTerms,
} from "@nodeloom/kernel";
import { uploadIssues } from "./addresses";
import { broughtIds } from "./brought-ids";
import { fileFields, resolveDataFields, standForFiles } from "./file-inputs";
import { finishPlan, missing, notLookedUp, termsOf, type PlanRules } from "./finish";
import type { PlanAnswer, PlanTask } from "./protocol";
import { checkInputs, invalidWorkflow, parseInputs } from "./refusals";

/** Plans a run of a workflow: its graph, read once and cached, with the inputs of the run. */

export type ReadGraph = Graph & { issues: GraphIssue[] };

/** A graph as it is kept between runs. */
export interface CachedGraph {
  graph: ReadGraph;
  /** Of its texts. */
  chars: number;
  /** Every text in it that could be the id of a file; read for the first run of somebody else. */
  literalIds?: ReadonlySet<string>;
}

/** What of a graph runs. @throws DomainError INVALID_REQUEST, where it has no such node to run to */
export const partToRun = ({ graph }: CachedGraph, until: string | undefined): ReadGraph => {
  if (until === undefined) return graph;
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

/** Puts files in place of the ids that upload fields were given. @throws DomainError INVALID_INPUTS */
const resolveFileFields = (fields: readonly InputField[], values: Map<string, unknown>, media: ReadonlyMap<string, MediaValue>): void => {
  for (const field of fields) {
    const file = media.get(values.get(field.name) as string);
    const problem = file ? mediaProblem(uploadFamily(field)!, file) : "is not one of your media files";
    if (problem) throw invalidInputs([{ path: `inputs.${field.name}`, message: problem }]);
    values.set(field.name, file);
  }
};

/** Plans a run of a workflow. @throws DomainError INVALID_REQUEST, INVALID_INPUTS or WORKFLOW_INVALID */
export const planWorkflowRun = (
  rules: PlanRules,
  cached: CachedGraph,
  { until, isForeign }: { until: string | undefined; isForeign: boolean },
  task: PlanTask,
): PlanAnswer => {
  const models = new Map(task.models.map((model) => [model.internalName, termsOf(model)]));
  const autos = task.autos ?? [];
  const chosen = autos.flatMap(([name, auto]): [string, ModelTerms][] => {
    const terms = "model" in auto ? models.get(auto.model) : undefined;
    return terms ? [[name, terms]] : [];
  });
  const noModel = new Map(autos.flatMap(([name, auto]) => ("problem" in auto ? [[name, auto.problem]] : [])));
  const { graph, warnings } = withChosenModels(partToRun(cached, until), new Map(chosen));
  const given = parseInputs(task.inputsJson);
  const fields = inputFields(graph);
  const inputs = until === undefined ? given : neededInputs(given, fields, inputFields(cached.graph));
  const fileInputs = fileFields(fields).map(({ name }) => name);
  if (!standForFiles(task.standIns, inputs, fileInputs)) return missing({ wholeInputs: true });
  const { values, issues } = resolveInputs(fields, inputs);
  checkInputs(issues);
  if (rules.addresses) checkInputs(uploadIssues(fields, values, rules.addresses));

  const isBrought = broughtIds(inputs, fields);
  const isAuthors = (id: string): boolean => isForeign && (cached.literalIds ??= literalMediaIds(cached.graph)).has(id) && !isBrought(id);
  const byId = fileFields(fields).filter(({ name }) => isMediaId(values.get(name)));
  const wanted = notLookedUp(task, [...mediaIds(graph), ...byId.map(({ name }) => values.get(name) as string)], isAuthors);
  if (wanted.length > 0) return missing({ media: wanted });

  const media = new Map(task.media);
  resolveFileFields(byId, values, media);
  const data = new Map<string, DataFile>(task.data);
  checkInputs(resolveDataFields(fields, values, data, rules.storage));
  const { modelNames } = task;
  const ofPart = until === undefined ? {} : { isPart: true };
  const request = { graph, inputs: values, models, noModel, warnings, media, data, ...ofPart, ...(modelNames ? { modelNames } : {}) };
  const answer = finishPlan(rules, { task, request, fileInputs, isAuthors, invalid: (found) => invalidWorkflow(found, graph) });
  if (answer.answer !== "plan" || !isForeign) return answer;
  const forwarded = forwardedMediaIds(answer.plan).filter(isAuthors);
  const namesFiles = forwarded.length > 0 || task.media.some(([id]) => isAuthors(id));
  return { ...answer, forwardedMediaIds: forwarded, ...(namesFiles ? { plan: withHiddenOutputs(answer.plan) } : {}) };
};
