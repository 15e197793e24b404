import {
  invalidInputs,
  JSON_PORT,
  modelNodeType,
  RESULT_TYPE,
  type DataFile,
  type Graph,
  type GraphIssue,
  type Issue,
  type ModelTerms,
} from "@nodeloom/kernel";
import { fileInputsOf, standForFiles } from "./file-inputs";
import { checkInputs, finishPlan, missing, parseInputs, type PlanRules, termsOf } from "./finish";
import type { PlanAnswer, PlanTask } from "./protocol";

/** Builds the smallest graph: the model and its result, connected by their ports. */
const graphOf = (
  model: Pick<ModelTerms, "internalName" | "modality" | "outputs">,
  inputs: Record<string, unknown>,
  schema: string | undefined,
): Graph & { issues: GraphIssue[] } => ({
  nodes: [
    {
      id: "model",
      type: modelNodeType(model.modality),
      data: { model: model.internalName, inputs, ...(schema === undefined ? {} : { schema }) },
    },
    { id: "output", type: RESULT_TYPE, data: {} },
  ],
  edges: [
    { id: "result", source: "model", target: "output", sourceHandle: null, targetHandle: null },
    ...(schema !== undefined || model.outputs?.includes(JSON_PORT) || inputs.tools !== undefined
      ? [{ id: "json", source: "model", target: "output", sourceHandle: JSON_PORT, targetHandle: JSON_PORT }]
      : []),
  ],
  issues: [],
});

/**
 * Maps a problem of the smallest graph to a problem of the inputs. Problems of settings have no path, so their messages start with the
 * input's name.
 */
const asInputIssue =
  (inputs: Record<string, unknown>) =>
  ({ message, code, path }: GraphIssue): Issue => {
    const name = path ?? Object.keys(inputs).find((input) => message.startsWith(`${input}: `));
    if (name === undefined) return { path: "inputs", message, code };
    const prefix = `${name}: `;
    return { path: `inputs.${name}`, message: message.startsWith(prefix) ? message.slice(prefix.length) : message, code };
  };

/** @throws DomainError INVALID_INPUTS */
export const planDirectRun = (rules: PlanRules, task: PlanTask): PlanAnswer => {
  const inputs = parseInputs(task.inputsJson);
  const terms = termsOf(task.models[0]!);
  const fileInputs = fileInputsOf(terms.inputSchema);
  if (!standForFiles(task.standIns, inputs, fileInputs)) return missing({ wholeInputs: true });
  checkInputs(terms.validate(inputs).map((issue) => ({ ...issue, path: issue.path ? `inputs.${issue.path}` : "inputs" })));
  const request = {
    graph: graphOf(terms, inputs, "model" in task.target ? task.target.schemaJson : undefined),
    inputs: new Map(),
    models: new Map(task.models.map((model) => [model.internalName, termsOf(model)])),
    media: new Map(task.media),
    data: new Map<string, DataFile>(task.data),
    // A caller's prompt is taken literally, even if it contains {{templates}}.
    noTemplates: true,
  };
  return finishPlan(rules, {
    ...{ task, request, fileInputs },
    isAuthors: () => false,
    invalid: (issues) => invalidInputs(issues.map(asInputIssue(inputs))),
  });
};
