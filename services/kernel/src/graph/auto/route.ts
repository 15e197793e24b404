import { LIMITS } from "../../limits";
import { MILLICREDITS_PER_CREDIT, toCredits } from "../../credits/money";
import type { JsonSchema } from "../prices/price";
import type { GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { noneAble } from "./rank";
import { taskOf } from "./tasks";

/** Chooses the model of a node that names a task: by the node's settings, prices, measured calls and the administrators' order. */

export const PREFERENCES = ["cheapest", "fastest", "best"] as const;
export type Preference = (typeof PREFERENCES)[number];

const isPreference = (value: unknown): value is Preference => PREFERENCES.some((one) => one === value);

export const ROUTE_SETTINGS: Readonly<Record<string, JsonSchema>> = {
  prefer: {
    enum: [...PREFERENCES],
    description: "For a task: which of its models to take. By default the first one that is ready in the administrators' order.",
  },
  allow: {
    type: "array",
    maxItems: LIMITS.routeModels,
    items: { type: "string" },
    description: "For a task: the models that can be chosen. By default all models of the task.",
  },
  maxCredits: {
    type: "number",
    exclusiveMinimum: 0,
    description: "The most that one call may cost. For a task, models that can cost more are left out.",
  },
};

const isUnset = (value: unknown): boolean => value === undefined || value === null || value === "";

const allowProblem = (allow: unknown): string | undefined => {
  if (isUnset(allow)) return undefined;
  if (!Array.isArray(allow) || allow.length === 0 || !allow.every((name) => typeof name === "string" && name !== ""))
    return "must be a list of models' names";
  if (allow.length > LIMITS.routeModels) return `names ${allow.length} models, at most ${LIMITS.routeModels} are allowed`;
  const task = (allow as string[]).find((name) => taskOf(name) !== undefined);
  return task === undefined ? undefined : `${shownName(task)} is a task; only models can be named here`;
};

/** Problems of the settings `prefer`, `allow` and `maxCredits`. */
export const routeProblems = ({ data: { prefer, allow, maxCredits } }: GraphNode): string[] => {
  const isLimit = typeof maxCredits === "number" && Number.isFinite(maxCredits) && maxCredits > 0;
  const problem = allowProblem(allow);
  return [
    ...(isUnset(prefer) || isPreference(prefer) ? [] : [`prefer: must be one of ${PREFERENCES.join(", ")}`]),
    ...(problem === undefined ? [] : [`allow: ${problem}`]),
    ...(isUnset(maxCredits) || isLimit ? [] : ["maxCredits: must be a number above 0"]),
  ];
};

/** Upper bound on one call's price in milli-credits, from the setting `maxCredits`. */
export const givenMaxMillicredits = ({ data: { maxCredits } }: GraphNode): number | undefined =>
  typeof maxCredits === "number" && maxCredits > 0 ? Math.floor(maxCredits * MILLICREDITS_PER_CREDIT) : undefined;

export interface RouteSettings {
  prefer: Preference | undefined;
  allow: readonly string[] | undefined;
  maxMillicredits: number | undefined;
}

/** Invalid settings count as unset, because they are reported separately. */
export const routeSettings = (node: GraphNode): RouteSettings => {
  const { prefer, allow } = node.data;
  return {
    prefer: isPreference(prefer) ? prefer : undefined,
    allow: isUnset(allow) || allowProblem(allow) !== undefined ? undefined : (allow as string[]),
    maxMillicredits: givenMaxMillicredits(node),
  };
};

/** True if the node's settings decide which model of a task runs. */
export const isRouted = (node: GraphNode): boolean => {
  const { prefer, allow, maxMillicredits } = routeSettings(node);
  return prefer !== undefined || allow !== undefined || maxMillicredits !== undefined;
};

/** Measures of the recent calls of a model. */
export interface Measures {
  /** Number of calls measured. */
  calls: number;
  /** Share of failed calls; null if too few calls are measured. */
  errorRate: number | null;
  /** Median duration of completed calls in milliseconds; null if too few calls are measured. */
  p50Ms: number | null;
  /** True while calls to the provider are held back because it doesn't answer. */
  isUnavailable: boolean;
}

/** A model of a task, in the administrators' order. */
export interface RouteCandidate extends Measures {
  model: string;
  /** Reason why the model can't run now for this caller. */
  excluded?: string;
  /** True for a model of the sandbox that administrators haven't put into the order. */
  isStandIn: boolean;
}

/** The models of a task. */
export interface TaskRoute {
  candidates: readonly RouteCandidate[];
  /** Reason and next step if no model of the task is ready. */
  none?: string;
}

/** Price of one call by a candidate, or the reason why the candidate can't make it. */
export type CandidatePrice = { millicredits: number } | { problem: string };

export interface ConsideredModel extends Pick<Measures, "p50Ms" | "errorRate"> {
  model: string;
  /** Upper bound on one call's price; null if it wasn't computed. */
  millicredits: number | null;
  reason: string;
}

/** The choice for one node, with the candidates: the chosen one first. */
export interface Route {
  nodeId: string;
  chosen: string;
  considered: readonly ConsideredModel[];
}

/** Calls after which an error rate counts, and the rate from which a model comes last. */
const FAILING = { calls: 10, rate: 0.5 } as const;
const PERCENT = 100;
const isFailing = ({ calls, errorRate }: Measures): boolean => calls >= FAILING.calls && (errorRate ?? 0) >= FAILING.rate;

const NOT_ALLOWED = "isn't in allow";
/** @param hasOthers true if a model that doesn't stand in is ready */
const reasonOut = (
  { model, excluded, isStandIn }: RouteCandidate,
  { allow, maxMillicredits }: RouteSettings,
  price: CandidatePrice | undefined,
  hasOthers: boolean,
): string | undefined => {
  if (allow && !allow.includes(model)) return NOT_ALLOWED;
  if (excluded !== undefined) return excluded;
  if (isStandIn && hasOthers && !allow) return "only stands in: it is no AI";
  if (price && "problem" in price) return price.problem;
  if (price && maxMillicredits !== undefined && price.millicredits > maxMillicredits)
    return `one call can cost ${toCredits(price.millicredits)} credits, more than maxCredits (${toCredits(maxMillicredits)})`;
  return undefined;
};

interface Contender {
  candidate: RouteCandidate;
  /** Compared element by element, the smallest first. */
  rank: readonly number[];
  /** Reason why the model comes after the chosen one, in the words of the first element that differs. */
  reasons: readonly string[];
}

const LATER = "comes later in the order";

const priceOf = (price: CandidatePrice | undefined): number =>
  price && "millicredits" in price ? price.millicredits : Number.MAX_SAFE_INTEGER;

const preferenceRank = (prefer: Preference | undefined, { p50Ms }: Measures, price: CandidatePrice | undefined): [number, string] => {
  if (prefer === "cheapest") return [priceOf(price), "costs more"];
  if (prefer !== "fastest") return [0, LATER];
  return p50Ms === null ? [Number.MAX_SAFE_INTEGER, "too few calls in the last day to know its speed"] : [p50Ms, "is slower"];
};

const rankedOf = (candidate: RouteCandidate, place: number, { prefer }: RouteSettings, price: CandidatePrice | undefined): Contender => {
  const [value, words] = preferenceRank(prefer, candidate, price);
  const isLast = prefer !== undefined && isFailing(candidate);
  return {
    candidate,
    rank: [Number(candidate.isUnavailable), Number(isLast), value, place],
    reasons: [
      "its provider doesn't answer at the moment",
      `${Math.round((candidate.errorRate ?? 0) * PERCENT)} % of its last calls failed`,
      words,
      LATER,
    ],
  };
};

const differsAt = ({ rank }: Contender, other: Contender): number => rank.findIndex((value, index) => value !== other.rank[index]);

const compared = (one: Contender, other: Contender): number => {
  const at = differsAt(one, other);
  return at < 0 ? 0 : one.rank[at]! - other.rank[at]!;
};

const CHOSEN: Readonly<Record<Preference, string>> = {
  cheapest: "the cheapest",
  fastest: "the fastest",
  best: "the first in the order that works",
};

const chosenBecause = ({ candidate }: Contender, prefer: Preference | undefined, count: number): string => {
  if (count === 1) return "the only one that can run";
  if (prefer === undefined) return "the first in the order";
  return prefer === "fastest" && candidate.p50Ms === null ? "the first in the order: too few calls to know the fastest" : CHOSEN[prefer];
};

const REPLACED = "the earlier run had another model";

/** Reason why an able model wasn't chosen. */
const behind = (chosen: Contender, one: Contender): string =>
  compared(one, chosen) < 0 ? REPLACED : (one.reasons[differsAt(chosen, one)] ?? LATER);

export interface RouteRequest {
  node: GraphNode;
  route: TaskRoute;
  /** Prices by model; a model without an entry isn't priced. */
  prices?: ReadonlyMap<string, CandidatePrice> | undefined;
  /** Model of an earlier run that this run repeats. It is kept if it can run. */
  earlierModel?: string | undefined;
}

const unknownAllowed = ({ allow = [] }: RouteSettings, { candidates }: TaskRoute, task: string): ConsideredModel[] =>
  allow
    .filter((name) => candidates.every(({ model }) => model !== name))
    .map((name) => ({
      model: shownName(name),
      ...{ millicredits: null, p50Ms: null, errorRate: null },
      reason: `isn't an enabled model for ${task}`,
    }));

/**
 * Chooses the model of a node. The result depends only on the arguments.
 * @returns the choice, or the reason why no model is left
 */
export const chooseRoute = ({ node, route, prices, earlierModel }: RouteRequest): Omit<Route, "nodeId"> | { problem: string } => {
  const settings = routeSettings(node);
  const task = String(node.data.model);
  const consideredOf = (candidate: RouteCandidate, reason: string): ConsideredModel => {
    const { model, p50Ms, errorRate } = candidate;
    const price = prices?.get(model);
    return { model, millicredits: price && "millicredits" in price ? price.millicredits : null, p50Ms, errorRate, reason };
  };
  const hasOthers = route.candidates.some(({ isStandIn, excluded }) => !isStandIn && excluded === undefined);
  const out: ConsideredModel[] = [];
  const able: Contender[] = [];
  for (const [place, candidate] of route.candidates.entries()) {
    const price = prices?.get(candidate.model);
    const reason = reasonOut(candidate, settings, price, hasOthers);
    if (reason === undefined) able.push(rankedOf(candidate, place, settings, price));
    else out.push(consideredOf(candidate, reason));
  }
  out.push(...unknownAllowed(settings, route, task));
  able.sort(compared);
  const [best] = able;
  if (!best) {
    if (route.none !== undefined && !settings.allow) return { problem: route.none };
    const reasons = out.filter(({ reason }) => reason !== NOT_ALLOWED);
    return { problem: noneAble(task, reasons.length > 0 ? reasons : out, route) };
  }
  const chosen = able.find(({ candidate }) => candidate.model === earlierModel) ?? best;
  const because =
    chosen.candidate.model === earlierModel ? "kept from the earlier run" : chosenBecause(chosen, settings.prefer, able.length);
  const others = able.filter((one) => one !== chosen).map((one) => consideredOf(one.candidate, behind(chosen, one)));
  const considered = [consideredOf(chosen.candidate, because), ...others, ...out].slice(0, LIMITS.routeModels);
  return { chosen: chosen.candidate.model, considered };
};
