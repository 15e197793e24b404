/** Estimates before a rerun which calls it reuses and what the remaining calls can cost. */
import {
  BindError,
  callsHttp,
  callsTransform,
  invalidRequest,
  isRefusal,
  itemKey,
  makesResult,
  shownName,
  waitsForDecision,
  type Issue,
  type PlanStep,
  type RunPlan,
} from "@nodeloom/kernel";
import type { CatalogModel } from "../plan/model-catalog";
import type { KnownOutputs } from "../plan/planner/protocol";
import type { Replan, PlannedReuse } from "../plan/reruns";
import type { ReusedResult } from "../run/call-record";
import { GraphRun } from "../run/graph-run";
import type { Reuse } from "../run/types";
import type { Where } from "./earlier-calls";
import { createStepReuse, isReusable, type StepReuseOptions } from "./step-reuse";

export interface PreviewRequest {
  plan: RunPlan;
  models: ReadonlyMap<string, CatalogModel>;
  reuse: Reuse;
  where: Where;
  replan: Replan;
}

interface ReusableWork {
  /** Outputs of the steps whose calls are all reused. */
  knownOutputs: KnownOutputs;
  reused: Map<string, ReusedResult>;
  /** Number of calls in these steps. */
  calls: Map<string, number>;
  /** Steps with known inputs whose calls were looked up. */
  looked: Set<string>;
}

const nodesOf = ({ steps, evaluated, skipped = [], outputNodes }: RunPlan): Set<string> =>
  new Set([...[...steps, ...evaluated, ...skipped].map(({ id }) => id), ...outputNodes]);

const unknownNodes = (path: string, ids: readonly string[], nodeIds: ReadonlySet<string>): Issue[] =>
  ids.flatMap((id, index) =>
    nodeIds.has(id) ? [] : [{ path: `${path}.${index}`, message: `the workflow has no node ${shownName(id)} that runs` }],
  );

/** @throws DomainError INVALID_REQUEST for nodes that aren't in the plan */
const checkNodes = (plan: RunPlan, { again, requests }: Reuse): void => {
  const nodeIds = nodesOf(plan);
  const issues = [...unknownNodes("nodes", again, nodeIds), ...unknownNodes("reuse", requests, nodeIds)];
  if (issues.length > 0) throw invalidRequest(issues);
};

/**
 * Returns the plan with the numbers of calls that follow from the reused values.
 * @param priced the plan with reused values; undefined if nothing is reused
 * @param calls numbers of calls in steps that are reused completely
 */
const merged = (plan: RunPlan, priced: RunPlan | undefined, calls: ReadonlyMap<string, number>): RunPlan => {
  const pricedSteps = new Map(priced?.steps.map((step) => [step.id, step]));
  return {
    ...plan,
    steps: plan.steps.map((step) => {
      const whole = calls.get(step.id);
      if (whole !== undefined) return { ...step, maxItems: whole, itemLimit: whole };
      const { maxItems, itemLimit, maxMillicredits, typical, conditional, answer } = pricedSteps.get(step.id) ?? step;
      const { conditional: _, typical: _typical, ...rest } = step;
      const limit = itemLimit === undefined ? {} : { itemLimit };
      const priced = { maxMillicredits, ...(typical ? { typical } : {}) };
      return { ...rest, maxItems, ...limit, ...priced, ...(conditional ? { conditional } : {}), ...(answer ? { answer } : {}) };
    }),
  };
};

/** Keys of calls that are skipped because of reused values. */
const skippedKeys = (plan: RunPlan, priced: RunPlan | undefined): string[] => {
  const skipped = new Set(priced?.skipped?.map(({ id }) => id));
  const steps = plan.steps.filter(({ id }) => skipped.has(id));
  return steps.flatMap(({ id, maxItems }) => Array.from({ length: maxItems }, (_, item) => itemKey(id, item)));
};

export type Preview = ReturnType<typeof createPreview>;

export const createPreview = (options: StepReuseOptions) => {
  const reuseOf = createStepReuse(options);

  /** Evaluates a plan in the same way as a run, as far as reused values allow. */
  const goThrough = async (previewed: PreviewRequest): Promise<ReusableWork> => {
    const { plan, reuse } = previewed;
    const run = new GraphRun(plan);
    const started = new Set<string>();
    const reusePreview: ReusableWork = { knownOutputs: [], reused: new Map(), calls: new Map(), looked: new Set() };
    const doneIds = new Set(run.nodes.filter(({ status }) => status !== "pending").map(({ id }) => id));
    const isDone = async (step: PlanStep): Promise<boolean> => {
      const calls = step.model !== undefined || callsHttp(step.type) || callsTransform(step.type);
      // An approval decides during the run: it selects the port of its value and can change the value.
      if (makesResult(step.type) || waitsForDecision(step.type) || (calls && !isReusable(step, reuse))) return false;
      run.start(step, 0);
      if (!calls) {
        run.evaluate(step);
        return true;
      }
      const { reused, outputs, isSure } = await reuseOf(run, step, previewed);
      if (isSure) reusePreview.looked.add(step.id);
      for (const [item, one] of reused.entries()) if (one) reusePreview.reused.set(itemKey(step.id, item), one);
      if (!outputs) return false;
      for (const [port, value] of outputs) run.give(step.id, port, value);
      reusePreview.knownOutputs.push([step.id, outputs]);
      reusePreview.calls.set(step.id, reused.length);
      return true;
    };
    for (let ready = run.readyAfter(doneIds, started); ready.length > 0; ready = run.readyAfter(doneIds, started)) {
      for (const { id } of ready) started.add(id);
      await Promise.all(
        ready.map(async (step) => {
          // The run itself reports failures.
          const isOver = await isDone(step).catch((error: unknown) => {
            if (error instanceof BindError) return false;
            throw error;
          });
          if (!isOver) return;
          run.complete(step.id, 0);
          doneIds.add(step.id);
        }),
      );
    }
    return reusePreview;
  };

  /** Plans again with reused values. Returns undefined if that fails or changes nothing. */
  const priced = async ({ plan, replan }: PreviewRequest, reusedOutputs: KnownOutputs): Promise<RunPlan | undefined> => {
    const isAll = plan.steps.every(({ model, id }) => model === undefined || reusedOutputs.some(([node]) => node === id));
    if (reusedOutputs.length === 0 || isAll) return undefined;
    // The prices of the first plan are upper bounds, and the run reports the problem.
    return replan(reusedOutputs).catch((error: unknown) => {
      if (isRefusal(error)) return undefined;
      throw error;
    });
  };

  /** @throws DomainError INVALID_REQUEST for nodes that aren't in the plan */
  return async (previewed: PreviewRequest): Promise<PlannedReuse> => {
    const { plan, reuse } = previewed;
    checkNodes(plan, reuse);
    const { knownOutputs, reused, calls, looked } = await goThrough(previewed);
    const pricedPlan = await priced(previewed, knownOutputs);
    const skipped = new Set(pricedPlan?.skipped?.map(({ id }) => id));
    const isOpen = (step: PlanStep): boolean => !looked.has(step.id) && !skipped.has(step.id) && isReusable(step, reuse);
    return {
      plan: merged(plan, pricedPlan, calls),
      reuse,
      free: new Set([...reused.keys(), ...skippedKeys(plan, pricedPlan)]),
      open: new Set(plan.steps.filter(isOpen).map(({ id }) => id)),
      saved: new Map([...reused].map(([key, { savedMicroUsd }]) => [key, savedMicroUsd])),
    };
  };
};
