import { kindOf } from "../kinds";
import type { JsonSchema } from "../prices/price";
import { finding, findingInWords, type Finding } from "../../issues";
import { isRecord, type Graph, type GraphEdge, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { placeholdersIn } from "../values/value";
import { takesSuccessor } from "../plan/retirement";
import { counterpartIn, isTaskName, nameIn, TASKS, taskOf } from "./tasks";

/** The model chosen for a task such as `auto:image` or in place of a retired model. */
export interface ChosenModel {
  internalName: string;
  inputSchema: JsonSchema;
}

/** Models chosen for single nodes that name a task, by node id. */
export type RoutedModels = ReadonlyMap<string, ChosenModel>;

/** Maximum dropped inputs that one node's warnings name. */
const MOST_NAMED = 10;

/** Inputs that the chosen model doesn't have, by node. */
type Unknown = Map<string, Set<string>>;

interface Choice {
  model: ChosenModel;
  task: string;
  modelInputs: ReadonlySet<string>;
  /** Placeholders in the node's templates. Each is a port. */
  placeholders: ReadonlySet<string>;
}

const choiceOf = (node: GraphNode, chosenModels: ReadonlyMap<string, ChosenModel>, routed: RoutedModels): Choice | undefined => {
  const name = node.data.model;
  const model =
    kindOf(node.type)?.calls === "model" && typeof name === "string" ? (routed.get(node.id) ?? chosenModels.get(name)) : undefined;
  if (!model || !(taskOf(String(name)) !== undefined || takesSuccessor(node))) return undefined;
  const modelInputs = new Set(isRecord(model.inputSchema.properties) ? Object.keys(model.inputSchema.properties) : []);
  return { model, task: String(name), modelInputs, placeholders: new Set(placeholdersIn(node.data)) };
};

/** The model's name for an input, or undefined if it has no such input. */
const renamed = ({ task, modelInputs, placeholders }: Choice, name: string): string | undefined =>
  (taskOf(task) === undefined ? counterpartIn(name, modelInputs) : nameIn(name, modelInputs)) ??
  (placeholders.has(name) ? name : undefined);

/** Task inputs stored directly in the node's settings, where language models keep them. */
const besides = (node: GraphNode, { task, modelInputs }: Choice): [string, unknown][] => {
  const name = taskOf(task) ?? "";
  const common: readonly string[] = isTaskName(name) ? TASKS[name].inputs : [];
  return common.filter((input) => !modelInputs.has(input) && Object.hasOwn(node.data, input)).map((input) => [input, node.data[input]]);
};

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

/** Returns the node's fallback models without the chosen model. */
const otherThan = ({ model }: Choice, { data: { fallback } }: GraphNode): { fallback?: unknown[] } =>
  Array.isArray(fallback) && fallback.includes(model.internalName)
    ? { fallback: fallback.filter((name) => name !== model.internalName) }
    : {};

const chosenNode = (node: GraphNode, choice: Choice, unknown: Set<string>): GraphNode => {
  const inputs = new Map<string, unknown>();
  const inputEntries = isRecord(node.data.inputs) ? Object.entries(node.data.inputs) : [];
  for (const [name, value] of [...besides(node, choice), ...inputEntries]) {
    const own = renamed(choice, name);
    if (own !== undefined) inputs.set(own, value);
    else if (isGiven(value)) unknown.add(name);
  }
  const { inputs: before } = node.data;
  const changed = inputs.size > 0 || isRecord(before) ? { inputs: Object.fromEntries(inputs) } : {};
  return { ...node, data: { ...node.data, ...changed, ...otherThan(choice, node), model: choice.model.internalName } };
};

/** Renames the edge's port to the model's name for it. Returns undefined if the model has no such input. */
const chosenEdge = (edge: GraphEdge, node: GraphNode, choice: Choice, unknown: Set<string>): GraphEdge | undefined => {
  const port = edge.targetHandle ?? kindOf(node.type)?.defaultInput?.(edge.sourceHandle ?? "", node) ?? "";
  const own = renamed(choice, port);
  if (own !== undefined) return own === port ? edge : { ...edge, targetHandle: own };
  unknown.add(port);
  return undefined;
};

const warningsOf = (choices: ReadonlyMap<string, Choice>, unknown: Unknown): Map<string, Finding[]> =>
  new Map(
    [...unknown]
      .map(([id, names]): [string, Finding[]] => {
        const { task, model } = choices.get(id)!;
        const isReplaced = taskOf(task) === undefined;
        const ignored = [...names]
          .slice(0, MOST_NAMED)
          .map((name) =>
            findingInWords(
              "INPUT_IGNORED",
              `${task} uses ${model.internalName}, which has no input ${shownName(name)}: the input is ignored`,
              shownName(name),
            ),
          );
        const replaced = isReplaced ? [finding("MODEL_REPLACED", { model: shownName(task), successor: model.internalName })] : [];
        return [id, [...replaced, ...ignored]];
      })
      .filter(([, inputsOfModel]) => inputsOfModel.length > 0),
  );

/**
 * Replaces tasks with the models chosen for them and renames the inputs. Inputs that a model doesn't have are dropped with a warning.
 * @param chosenModels models by the name in the node, such as `auto:image`. Includes retired models only for nodes that accept their successor. A
 *   name without an entry stays and becomes an issue.
 * @param routed takes precedence over `chosenModels`
 */
export const withChosenModels = <G extends Graph>(
  graph: G,
  chosenModels: ReadonlyMap<string, ChosenModel>,
  routed: RoutedModels = new Map(),
): { graph: G; warnings: Map<string, Finding[]> } => {
  const choices = new Map<string, Choice>();
  for (const node of graph.nodes) {
    const choice = choiceOf(node, chosenModels, routed);
    if (choice) choices.set(node.id, choice);
  }
  if (choices.size === 0) return { graph, warnings: new Map() };
  const unknown: Unknown = new Map([...choices.keys()].map((id) => [id, new Set<string>()]));
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const nodes = graph.nodes.map((node) => {
    const choice = choices.get(node.id);
    return choice ? chosenNode(node, choice, unknown.get(node.id)!) : node;
  });
  const edges = graph.edges.flatMap((edge) => {
    const choice = choices.get(edge.target);
    return choice ? (chosenEdge(edge, byId.get(edge.target)!, choice, unknown.get(edge.target)!) ?? []) : edge;
  });
  return { graph: { ...graph, nodes, edges }, warnings: warningsOf(choices, unknown) };
};
