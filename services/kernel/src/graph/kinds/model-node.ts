import { LIMITS } from "../../limits";
import { GRAPH_BOUNDS } from "../bounds";
import { ROUTE_SETTINGS, routeProblems } from "../auto/route";
import { longTexts } from "../plan/check-texts";
import { fallbackProblems } from "../plan/fallback-setting";
import { ON_ITEM_ERROR } from "../plan/item-errors";
import { ON_RETIRED_SETTING, retirementProblems } from "../plan/retirement";
import { isFileType, literalInputs, namedPorts, schemaPorts, type InputPort } from "../wiring/ports";
import type { JsonSchema } from "../prices/price";
import { isRecord, type GraphNode } from "../types";
import { placeholdersIn } from "../values/value";

/** Input ports of a model node: the model's inputs and one port per placeholder in the node's texts. */
export const modelPorts = (node: GraphNode, schema?: JsonSchema): Map<string, InputPort> => {
  const declared = schema ? schemaPorts(schema) : [];
  const isFilled = new Map(declared.map(([name, port]) => [name, port.type === "text"]));
  // Without a schema, any literal can be a text.
  const texts = Object.entries(literalInputs(node, schema)).filter(([name]) => isFilled.get(name) ?? schema === undefined);
  return new Map([...namedPorts(placeholdersIn(texts.map(([, text]) => text)), "any"), ...declared]);
};

export const checkModelNode = (node: GraphNode, schema?: JsonSchema): string[] => {
  const { inputs } = node.data;
  const ports = modelPorts(node, schema);
  const texts = Object.entries(literalInputs(node, schema)).filter(([name]) => !isFileType(ports.get(name)?.type));
  return [
    ...(inputs !== undefined && inputs !== null && !isRecord(inputs) ? ["inputs: must be an object"] : []),
    ...texts.flatMap(([name, value]) => longTexts(value, name)),
    ...fallbackProblems(node),
    ...retirementProblems(node),
    ...routeProblems(node),
  ];
};

export const MODEL_SETTINGS: Readonly<Record<string, JsonSchema>> = {
  model: { type: "string", description: "The internalName of a model, or auto:<task> for the best model that is ready." },
  ...ROUTE_SETTINGS,
  inputs: { type: "object", description: "Inputs of the model. Texts can have {{placeholders}}. Connected ports win." },
  maxItems: {
    type: "integer",
    minimum: 1,
    maximum: GRAPH_BOUNDS.listItems,
    description: "The most items of a list; 50 if absent. If the length isn't known before the run, the run holds the price of that many.",
  },
  onItemError: ON_ITEM_ERROR,
  onRetired: ON_RETIRED_SETTING,
  fallback: {
    type: "array",
    maxItems: LIMITS.fallbackModels,
    items: { type: "string" },
    description: "Models to call in this order if the node's own model rejects the call, is unavailable or fails.",
  },
};
