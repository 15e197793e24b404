import {
  chooseRoute,
  DomainError,
  type Graph,
  isBypassed,
  isRouted,
  kindOf,
  LIMITS,
  type ModelTerms,
  type PlanRequest,
  type PlanResult,
  type Route,
  routeSettings,
  type TaskRoute,
} from "@nodeloom/kernel";
import type { PlanAnswer, PlanTask } from "./protocol";

/** Chooses models for the nodes of a graph that name a task. */

interface RoutedNode {
  node: Graph["nodes"][number];
  route: TaskRoute;
  earlierModel: string | undefined;
}

/** Models that can run and that the node allows, up to a limit. */
const ableFor = ({ node, route }: Pick<RoutedNode, "node" | "route">): TaskRoute["candidates"] => {
  const { allow } = routeSettings(node);
  return route.candidates
    .filter(({ model, excluded }) => excluded === undefined && (allow?.includes(model) ?? true))
    .slice(0, LIMITS.routeModels);
};

/** Nodes that name a task. The pins of a version apply to nodes without settings of their own. */
const routedNodes = (graph: Graph, { autos = [], routes = [], keptModels = [] }: PlanTask): RoutedNode[] => {
  const [byTask, pins, kept] = [new Map(routes), new Map(autos), new Map(keptModels)];
  return graph.nodes.flatMap((node): RoutedNode[] => {
    const name = node.data.model;
    if (typeof name !== "string" || kindOf(node.type)?.calls !== "model" || isBypassed(node)) return [];
    const route = byTask.get(name);
    if (!route || (pins.has(name) && !isRouted(node))) return [];
    const able = new Set(ableFor({ node, route }));
    const candidates = route.candidates.filter((one) => able.has(one) || one.excluded !== undefined);
    return [{ node, route: { ...route, candidates }, earlierModel: kept.get(node.id) }];
  });
};

/** Applies the pins of a version to nodes without settings of their own: a model, or the reason why there is none. */
const pinned = (
  { nodes }: Graph,
  { autos = [] }: PlanTask,
  models: ReadonlyMap<string, ModelTerms>,
): { routed: Map<string, ModelTerms>; noModel: Map<string, string> } => {
  const pins = new Map(autos);
  const [routed, noModel] = [new Map<string, ModelTerms>(), new Map<string, string>()];
  for (const node of nodes) {
    const pin = typeof node.data.model === "string" && !isRouted(node) ? pins.get(node.data.model) : undefined;
    if (pin && "problem" in pin) noModel.set(node.id, pin.problem);
    const terms = pin && "model" in pin ? models.get(pin.model) : undefined;
    if (terms) routed.set(node.id, terms);
  }
  return { routed, noModel };
};

/** Models of one attempt to plan. */
export interface RoutedAttempt extends Required<Pick<PlanRequest, "noModel">> {
  routed: ReadonlyMap<string, ModelTerms>;
  /** Further models to price, by node; undefined to price none. */
  others: PlanRequest["others"];
  /** Receives the prices of the plan. */
  onPrices: (prices: PlanResult["prices"]) => void;
}

type ChosenRoutes = ReadonlyMap<string, ReturnType<typeof chooseRoute>>;

const routesOf = (chosen: ChosenRoutes): Route[] =>
  [...chosen].flatMap(([nodeId, choice]) => ("problem" in choice ? [] : [{ nodeId, ...choice }]));

const isEqual = (one: ChosenRoutes, other: ChosenRoutes): boolean => {
  const nameIn = (chosen: ChosenRoutes, id: string): string | undefined => {
    const choice = chosen.get(id);
    return choice && "chosen" in choice ? choice.chosen : undefined;
  };
  return [...one.keys()].every((id) => nameIn(one, id) === nameIn(other, id));
};

/**
 * Plans with a model for each node that names a task. The first plan prices all candidates. If a node then gets another model, the run is
 * planned again.
 * @param plan plans with the given models. It throws if the graph can't run with them
 */
export const planRouted = (
  graph: Graph,
  models: ReadonlyMap<string, ModelTerms>,
  task: PlanTask,
  plan: (attempt: RoutedAttempt) => PlanAnswer,
): PlanAnswer => {
  const nodes = routedNodes(graph, task);
  const choose = (prices?: PlanResult["prices"]): ChosenRoutes =>
    new Map(nodes.map(({ node, ...rest }) => [node.id, chooseRoute({ node, ...rest, prices: prices?.get(node.id) })]));
  const attempt = (chosen: ChosenRoutes, onPrices?: RoutedAttempt["onPrices"]): PlanAnswer => {
    const { routed, noModel } = pinned(graph, task, models);
    for (const [id, choice] of chosen) {
      if ("problem" in choice) noModel.set(id, choice.problem);
      else routed.set(id, models.get(choice.chosen)!);
    }
    const others = new Map(
      nodes.map((one) => {
        const able = ableFor(one).flatMap(({ model }) =>
          routed.get(one.node.id)?.internalName === model ? [] : (models.get(model) ?? []),
        );
        return [one.node.id, able] as const;
      }),
    );
    return plan({ routed, noModel, others: onPrices && others, onPrices: onPrices ?? (() => undefined) });
  };
  if (nodes.length === 0) return attempt(new Map());

  const provisional = choose();
  let prices: PlanResult["prices"] = new Map();
  const first = (): PlanAnswer | DomainError => {
    try {
      return attempt(provisional, (found) => (prices = found));
    } catch (error) {
      if (error instanceof DomainError && error.reason === "WORKFLOW_INVALID") return error;
      throw error;
    }
  };
  const answer = first();
  if (!(answer instanceof DomainError) && answer.answer !== "plan") return answer;
  const chosen = choose(prices);
  const isFinal = isEqual(provisional, chosen);
  if (isFinal && answer instanceof DomainError) throw answer;
  const planned = isFinal && !(answer instanceof DomainError) ? answer : attempt(chosen);
  if (planned.answer !== "plan") return planned;
  const plannedIds = new Set(planned.plan.steps.map(({ id }) => id));
  const routes = routesOf(chosen).filter(({ nodeId }) => plannedIds.has(nodeId));
  return routes.length === 0 ? planned : { ...planned, plan: { ...planned.plan, routes } };
};
