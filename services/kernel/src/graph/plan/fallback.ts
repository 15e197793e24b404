import type { CandidatePrice } from "../auto/route";
import { counterpartIn } from "../auto/tasks";
import { BindError, BoundPassed } from "../budget";
import type { NodeKind } from "../kinds/kind";
import { findingInWords, within, type Finding } from "../../issues";
import { isRecord, type GraphNode } from "../types";
import { shownName } from "../../text/shown-name";
import { callInputs, renamedItem } from "../values/bind";
import { member } from "../values/value";
import { schemaPorts } from "../wiring/ports";
import { callProblems, knownCalls, openInputs, type CallInputs, type KnownCalls } from "./call-costs";
import { fallbackNames, namesFallback } from "./fallback-setting";
import { fallbackTerms, modelGone } from "./retirement";
import { tryInputs, warn, type ModelTerms, type Planner } from "./planner";
import { mayCarry, type PlanAlternative, type PlanStep } from "./plan-types";

/** Plans fallback models. Each one is checked and priced like the node's own model. */

export interface PlannedAlternative extends KnownCalls {
  alternative: PlanAlternative;
}

interface OwnCalls {
  step: PlanStep;
  terms: ModelTerms;
  items: readonly Record<string, unknown>[];
  unknown: ReadonlySet<string>;
  inputTokens: number;
  typical(calls: KnownCalls): Pick<PlanAlternative, "typical">;
}

const JSON_OUTPUT = "json";

const isGiven = (step: PlanStep, name: string): boolean =>
  member(step.literals, name) !== undefined || mayCarry(member(step.sources, name));

/** The step's calls, with inputs renamed for the fallback model. */
interface AdaptedStep {
  call: CallInputs & Omit<PlanAlternative, "maxMillicredits" | "typical" | "answer">;
  /** Inputs that the fallback model doesn't have. */
  dropped: string[];
}

const adapt = (step: PlanStep, terms: ModelTerms): AdaptedStep => {
  const { inputSchema: schema, internalName: model } = terms;
  const schemaInputs = new Set(isRecord(schema.properties) ? Object.keys(schema.properties) : []);
  const givenNames = [...new Set([...Object.keys(step.literals), ...step.inputNames])].filter((name) => isGiven(step, name));
  const names = new Map(givenNames.map((name) => [name, counterpartIn(name, schemaInputs)]));
  const dropped = givenNames.filter((name) => names.get(name) === undefined);
  const own = (entries: readonly (readonly [string, unknown])[]): [string, unknown][] =>
    entries.flatMap(([name, value]): [string, unknown][] => {
      const other = names.get(name);
      return other === undefined ? [] : [[other, value]];
    });
  const literals = Object.fromEntries(own(Object.entries(step.literals)));
  const renamed = Object.fromEntries(
    givenNames.flatMap((name) => {
      const other = names.get(name);
      return other === undefined || other === name || member(step.sources, name) === undefined ? [] : [[name, other]];
    }),
  );
  const sources = Object.fromEntries([
    ...Object.entries(step.sources),
    ...Object.entries(renamed).map(([name, other]) => [other, step.sources[name]!] as const),
  ]);
  const ports = new Map(schemaPorts(schema));
  const inputNames = [...new Set([...names.values()].filter((name) => name !== undefined))];
  const ofType = (type: string): string[] => inputNames.filter((name) => ports.get(name)?.type === type);
  const numbers = ofType("number").filter((name) => member(sources, name) !== undefined);
  return {
    call: {
      model,
      literals,
      sources,
      inputNames,
      listPorts: [...ports].filter(([, port]) => port.list).map(([name]) => name),
      textPorts: step.textPorts.length > 0 ? ofType("text") : [],
      ...(numbers.length > 0 ? { numberPorts: numbers } : {}),
      ...(Object.keys(renamed).length > 0 ? { renamed } : {}),
    },
    dropped,
  };
};

/** Problems of inputs that are a list for the node's model but a single value for the fallback model. */
const listProblems = (step: PlanStep, { sources, listPorts, renamed = {} }: AdaptedStep["call"]): string[] =>
  step.listPorts
    .filter((name) => step.inputNames.includes(name) && member(sources, name) !== undefined)
    .map((name) => member(renamed, name) ?? name)
    .filter((name) => !listPorts.includes(name))
    .map((name) => `${name}: takes one value, but gets a list`);

/** Possible inputs of the calls. Texts that can't be filled are already reported for the node's own model. */
const candidatesOf = (planner: Planner, call: AdaptedStep["call"], items: OwnCalls["items"]): Record<string, unknown>[] => {
  try {
    return tryInputs(planner, () => items.map((item) => callInputs(call, renamedItem(item, call.renamed), planner.budget)));
  } catch (error) {
    if (!(error instanceof BindError) || error instanceof BoundPassed) throw error;
    return [];
  }
};

const unfit = (message: string): Finding => findingInWords("MODEL_UNFIT", message);

/** @returns the alternative, or the reason why the model can't be a fallback */
const planAlternative = (
  planner: Planner,
  { modality = "" }: NodeKind,
  own: OwnCalls,
  terms: ModelTerms,
): { planned: PlannedAlternative; dropped: string[] } | { problems: Finding[] } => {
  if (terms.modality !== modality)
    return { problems: [unfit(`generates ${terms.modality}, but this node needs a model that generates ${modality}`)] };
  if (own.terms.outputs?.includes(JSON_OUTPUT) && !terms.outputs?.includes(JSON_OUTPUT))
    return { problems: [unfit(`doesn't return JSON, unlike ${own.terms.internalName}`)] };
  const { call, dropped } = adapt(own.step, terms);
  const { renamed = {} } = call;
  const unknown = new Set([...own.unknown].flatMap((name) => [name, ...[member(renamed, name) ?? []].flat()]));
  const candidates = candidatesOf(planner, call, own.items);
  const problems = [
    ...callProblems(call, terms, candidates, openInputs(call, unknown)),
    ...listProblems(own.step, call).map((text) => unfit(text)),
  ];
  if (problems.length > 0) return { problems };
  const calls = knownCalls(call, { terms, candidates, unknown, inputTokens: own.inputTokens }, planner.request.markupPermille);
  const { sources: _, ...rest } = call;
  return { planned: { ...calls, alternative: { ...rest, maxMillicredits: calls.costWith(0), ...own.typical(calls) } }, dropped };
};

/**
 * Prices one call of a step by other models, by name. A model that can't make the call has a problem instead. When the budget for prices is
 * used up, the remaining models have no price.
 */
export const planOthers = (planner: Planner, kind: NodeKind, own: OwnCalls, others: readonly ModelTerms[]): Map<string, CandidatePrice> => {
  const prices = new Map<string, CandidatePrice>();
  const pricing: Planner = { ...planner, budget: planner.pricing };
  try {
    for (const terms of others) {
      const answer = planAlternative(pricing, kind, own, terms);
      const price = "problems" in answer ? { problem: answer.problems[0]!.message } : { millicredits: answer.planned.costWith(0) };
      prices.set(terms.internalName, price);
    }
  } catch (error) {
    if (!(error instanceof BoundPassed)) throw error;
  }
  return prices;
};

/**
 * Plans the fallback models of a step. An unsuitable model becomes an issue if the node names it, and is dropped if administrators set it.
 * Inputs that a model doesn't have are dropped with a warning.
 */
export const planFallback = (planner: Planner, kind: NodeKind, node: GraphNode, own: OwnCalls): PlannedAlternative[] => {
  const isOwn = namesFallback(node);
  const names = isOwn ? fallbackNames(node) : (own.terms.fallback ?? []);
  return names.flatMap((name): PlannedAlternative[] => {
    const terms = fallbackTerms(planner, node, name);
    const report = (finding: Finding): void => {
      if (isOwn) planner.issues.push({ nodeId: node.id, ...within("fallback", finding), path: "fallback" });
    };
    if (!terms) {
      report(modelGone(planner, name));
      return [];
    }
    const alternative = planAlternative(planner, kind, own, terms);
    if ("problems" in alternative) {
      for (const problem of alternative.problems) report(within(terms.internalName, problem));
      return [];
    }
    for (const input of alternative.dropped) {
      const message = `fallback: ${terms.internalName} has no input ${shownName(input)}: the input is ignored when that model is called`;
      warn(planner, node.id, findingInWords("INPUT_IGNORED", message, "fallback"));
    }
    return [alternative.planned];
  });
};
