import { finding, modelUnknown, type Finding } from "../../issues";
import type { GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { warn, type ModelTerms, type Planner } from "./planner";

/** Models that providers shut down. Models near their shutdown cause a warning; retired models are replaced or rejected. */

const ON_RETIRED = "onRetired";
const SUCCESSOR = "successor";
const FAIL = "fail";

export const ON_RETIRED_SETTING = {
  enum: [FAIL, SUCCESSOR],
  description: "`successor`: once the model is retired, the model that replaces it runs in its place. By default the run is rejected.",
} as const;

/** True if the node accepts the successor of a retired model. */
export const takesSuccessor = ({ data }: GraphNode): boolean => data[ON_RETIRED] === SUCCESSOR;

export const retirementProblems = ({ data }: GraphNode): string[] => {
  const setting = data[ON_RETIRED];
  const isKnown = setting === undefined || setting === null || setting === FAIL || setting === SUCCESSOR;
  return isKnown ? [] : [`${ON_RETIRED}: must be "${FAIL}" or "${SUCCESSOR}"`];
};

/** Days before the shutdown from which a warning is shown. */
const NOTICE_DAYS = 30;
const DAY_MS = 86_400_000;

/** @param day YYYY-MM-DD; @param now milliseconds since 1970 */
export const retiresSoon = (day: string, now: number): boolean => Date.parse(day) - now <= NOTICE_DAYS * DAY_MS;

/** The issue of a node whose model is missing or retired. */
export const modelGone = ({ request: { retired, modelNames } }: Planner, name: string): Finding =>
  retired?.has(name) ? finding("MODEL_RETIRED", { model: shownName(name), successor: retired.get(name) }) : modelUnknown(name, modelNames);

/** The model for a name in `fallback`. For a retired model, its successor if the node accepts it. */
export const fallbackTerms = (planner: Planner, node: GraphNode, name: string): ModelTerms | undefined => {
  const { models, retired } = planner.request;
  const successor = takesSuccessor(node) ? retired?.get(name) : undefined;
  if (successor === undefined) return models.get(name);
  warn(planner, node.id, { ...finding("MODEL_REPLACED", { model: shownName(name), successor }), path: "fallback" });
  return models.get(successor);
};

export const warnOfRetirement = (planner: Planner, node: GraphNode, { internalName, retiresOn, successor }: ModelTerms): void => {
  if (retiresOn !== undefined) warn(planner, node.id, finding("MODEL_RETIRES", { model: internalName, day: retiresOn, successor }));
};
