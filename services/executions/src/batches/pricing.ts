/** Validates and prices all items of a batch before the first item starts. */
import { DomainError, heldMillicredits, itemHolds, stepModels, toCredits, type PlanStep } from "@nodeloom/kernel";
import type { billing as billingProto } from "@nodeloom/proto";
import type { Billing } from "../clients";
import type { PlannedRun, Planning } from "../plan/planning";
import { type BatchRow, type ItemInput } from "../run/batch";
import { freeCalls, mayCostLess, unheldMillicredits } from "../accept/quotes";
import type { Reruns } from "../reuse/reruns";
import type { PinnedGraphs } from "../plan/kept-graphs";
import type { Runner, Target } from "../run/runner";
import type { Items } from "./item";
import { createProblems } from "./problems";

/** Maximum concurrent plans of one batch, as many as a process has planning threads. Each plan takes turns with plans of other users. */
const PLANS_AT_ONCE = 2;

/** Calls of one step. Each call uses one of the step's models; the hold covers the most expensive one. */
interface PricedCalls {
  calls: number;
  models: { model: string; millicredits: number }[];
}

interface PricedItem {
  price: number;
  most: number;
  mayCostLess: boolean;
  isPlaceless: boolean;
  paid: PricedCalls[];
  /** The part of the item's row that doesn't depend on grants. */
  row: Pick<BatchRow, "price" | "most" | "models">;
}

export interface PricedBatch {
  items: Pick<BatchRow, "price" | "most" | "granted" | "models">[];
  /** `estimated` and `most` exclude the part that trial grants pay. */
  estimated: number;
  most: number;
  /** True if the items cost exactly the estimate, whatever their runs do. */
  isExact: boolean;
  isPlaceless: boolean;
  /** Published version that the items run; undefined for the draft and for models. */
  version: number | undefined;
  /** Alias that selected the version; undefined if no alias was used. */
  alias: string | undefined;
  /** Graphs that all items of a workflow run. */
  pinned: PinnedGraphs | undefined;
  /** Days for which the workflow keeps runs; undefined for the installation's default. */
  retentionDays: number | undefined;
}

export interface ReadOrder {
  target: Target;
  version: string;
  alias?: string | undefined;
  /** Last node to run in a workflow; empty for all nodes. */
  until: string;
  runner: Runner;
  items: Items;
  /** A test that can't run counts as failed and doesn't stop the other tests. */
  isTest?: boolean;
}

const pricedCalls = (step: PlanStep, calls: number): PricedCalls[] => {
  const models = itemHolds(step, 0).map(({ model, maxMillicredits: millicredits }) => ({ model, millicredits }));
  return models.length === 0 || calls === 0 ? [] : [{ calls, models }];
};

const modelsOf = (steps: readonly PlanStep[]): string[][] => {
  const alternatives = steps.map(stepModels).filter((models) => models.length > 0);
  return [...new Map(alternatives.map((models) => [models.join(), models])).values()];
};

const priced = ({ plan: { steps }, reused }: Pick<PlannedRun, "plan" | "reused">): PricedItem => {
  const paidSteps = steps.map((step) => ({ step, free: freeCalls(step, reused) })).filter(({ step, free }) => free < step.maxItems);
  const price = paidSteps.reduce(
    (sum, { step, free }) => sum + (step.model === undefined ? 0 : (step.maxItems - free) * heldMillicredits(step)),
    0,
  );
  const most = paidSteps.reduce((sum, { step, free }) => sum + unheldMillicredits(step, free), price);
  const models = modelsOf(paidSteps.map(({ step }) => step));
  return {
    price,
    most,
    mayCostLess: paidSteps.some(({ step }) => mayCostLess(step) || (reused?.open.has(step.id) === true && step.maxMillicredits > 0)),
    isPlaceless: steps.length === 0,
    paid: paidSteps.flatMap(({ step, free }) => pricedCalls(step, step.maxItems - free)),
    row: { price, most, ...(models.length > 0 ? { models } : {}) },
  };
};

/** Price of an item that will be refused. */
const UNPRICED: PricedItem = { price: 0, most: 0, mayCostLess: true, isPlaceless: false, paid: [], row: { price: 0, most: 0 } };

/** Maximum different prices of a batch whose items share them. */
const SHARED = 1_000;

/** Returns equal prices as one object, because a batch can have 100,000 items. */
const createShared = () => {
  const prices = new Map<string, PricedItem>();
  return (item: PricedItem): PricedItem => {
    const key = JSON.stringify(item);
    const equal = prices.get(key);
    if (!equal && prices.size < SHARED) prices.set(key, item);
    return equal ?? item;
  };
};

/** Iterates over items in order, for several readers. */
async function* inOrder(items: Items): AsyncGenerator<ItemInput, undefined> {
  yield* items;
}

/**
 * Returns the part of each item's hold that trial grants don't pay. A grant pays only for its own model, so fallback models are held.
 * @returns isSure: true if no held call can be paid by a grant
 */
const withoutGrants = (
  items: readonly { paid: readonly PricedCalls[] }[],
  grants: readonly billingProto.Grant[],
): { unpaid: number[]; isSure: boolean } => {
  const remainingGrants = new Map(grants.map(({ model, remaining }) => [model, remaining]));
  let isSure = true;
  const isGranted = ({ model, millicredits }: PricedCalls["models"][number]): boolean => {
    const remaining = remainingGrants.get(model) ?? 0;
    if (millicredits === 0 || remaining === 0) return false;
    remainingGrants.set(model, remaining - 1);
    return true;
  };
  const heldFor = (models: PricedCalls["models"]): number => {
    const paidModels = models.filter((one) => !isGranted(one));
    const maxHold = Math.max(0, ...paidModels.map(({ millicredits }) => millicredits));
    isSure &&= maxHold === 0 || paidModels.length === models.length;
    return maxHold;
  };
  const unpaid = items.map(({ paid }) => {
    let heldSum = 0;
    for (const { calls, models } of paid) for (let call = 0; call < calls; call += 1) heldSum += heldFor(models);
    return heldSum;
  });
  return { unpaid, isSure };
};

export type Pricing = ReturnType<typeof createPricing>;

export interface PricingOptions {
  planning: Pick<Planning, "plan">;
  reruns: Pick<Reruns, "planningOf">;
  billing: Pick<Billing, "getAccount">;
}

export const createPricing = ({ planning, reruns, billing }: PricingOptions) => {
  const planItem = async (
    { target, version, alias, until, runner }: ReadOrder,
    { inputsJson, settingsJson, sources = [] }: ItemInput,
    { pinned, definition }: Pick<PlannedRun, "pinned" | "definition">,
  ): Promise<PlannedRun> => {
    const request = { runner, inputsJson, version, alias, pins: false };
    const rerun = { executionId: "", nodes: [], reuse: [], otherGraph: true, sources: [...sources] };
    return planning.plan({
      ...{ target, version, alias, until, runner, inputsJson, settingsJson, isAsync: false, storesNothing: true, pinned, definition },
      ...(sources.length > 0 ? await reruns.planningOf(rerun, request) : {}),
    });
  };

  return async (order: ReadOrder): Promise<PricedBatch> => {
    const { items, runner } = order;
    const pricedItems: PricedItem[] = [];
    const shared = createShared();
    const problems = createProblems();
    let version: number | undefined;
    let alias: string | undefined;
    let pinned: PinnedGraphs | undefined;
    let definition: PlannedRun["definition"];
    let retentionDays: number | undefined;
    let nextIndex = 0;
    const iterator = inOrder(items);
    /** @returns false if there are no more items */
    const one = async (): Promise<boolean> => {
      const index = nextIndex;
      nextIndex += 1;
      const next = await iterator.next();
      if (next.done) return false;
      try {
        const planned = await planItem({ ...order, alias: alias ?? order.alias }, next.value, { pinned, definition });
        pricedItems[index] = shared(priced(planned));
        if (!pinned) ({ version, alias, retentionDays, definition } = planned);
        pinned ??= planned.pinned;
      } catch (error) {
        problems.add(error, index);
        pricedItems[index] = UNPRICED;
      }
      return true;
    };
    const work = async (): Promise<void> => {
      while (await one());
    };
    try {
      // The first plan resolves the graph, and all other plans use it.
      if (await one()) await Promise.all(Array.from({ length: PLANS_AT_ONCE }, work));
    } finally {
      await iterator.return(undefined);
    }
    if (!(order.isTest && problems.items() < pricedItems.length)) problems.check();
    const { account } = await billing.getAccount({ userId: runner.userId });
    const { unpaid, isSure } = withoutGrants(pricedItems, account?.grants ?? []);
    const estimated = unpaid.reduce((sum, millicredits) => sum + millicredits, 0);
    const unheld = pricedItems.reduce((sum, { price, most }) => sum + most - price, 0);
    return {
      items: pricedItems.map((item, index) =>
        unpaid[index] === item.price ? item.row : { ...item.row, granted: item.price - unpaid[index]! },
      ),
      estimated,
      most: estimated + unheld,
      isExact: isSure && pricedItems.every(({ price, most, mayCostLess }) => price === most && !mayCostLess),
      isPlaceless: pricedItems.every(({ isPlaceless }) => isPlaceless),
      ...{ version, alias, pinned, retentionDays },
    };
  };
};

/** @throws INSUFFICIENT_CREDITS if the estimated cost of a batch exceeds its limit */
export const checkBudget = ({ estimated }: PricedBatch, maxMillicredits: number | undefined): void => {
  if (maxMillicredits === undefined || estimated <= maxMillicredits) return;
  const [requiredCredits, maxCredits] = [toCredits(estimated), toCredits(maxMillicredits)];
  const message = `the batch costs ${requiredCredits} credits, above its limit of ${maxCredits}`;
  throw new DomainError("exhausted", "INSUFFICIENT_CREDITS", message, { requiredCredits, maxCredits });
};
