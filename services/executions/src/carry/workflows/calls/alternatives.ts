/** Calls an item's model, and where that fails for certain, the next of the step's alternatives. */
import { alternativeKey, renamedItem, type PlanAlternative, type PlanStep } from "@nodeloom/kernel/graph";
import type { ModelCall } from "../../../run/calls";
import type { CallContext, CallResult } from "../../../run/types";
import { mayTryAnother } from "./failures";
import type { StepRun } from "./schedule";

/** What a call is made by: the step's own model, or one in its place. */
export type Called = Pick<PlanStep, "answer"> & Pick<PlanAlternative, "model" | "maxMillicredits">;

type MakeCall = (call: ModelCall, called: Called) => Promise<CallResult>;

const callOf = ({ run, input }: StepRun, one: PlanAlternative, item: Record<string, unknown>, context: CallContext): ModelCall => {
  const { authorFiles } = input.plan;
  return {
    ...context,
    model: one.model,
    inputs: run.inputs.ofCall(one, renamedItem(item, one.renamed)),
    price: input.plan.models[one.model]!.price,
    ...(authorFiles ? { authorFiles } : {}),
    ...(input.provenance ? { provenance: input.provenance } : {}),
    ...(one.answer ? { schema: one.answer.schema } : {}),
  };
};

const ownModel = (step: PlanStep): PlanAlternative => ({ ...step, model: step.model! });

/** The call of an item by its step's own model. */
export const ownCall = (stepRun: StepRun, item: Record<string, unknown>, context: CallContext): ModelCall =>
  callOf(stepRun, ownModel(stepRun.step), item, context);

export const callModelOf = async (stepRun: StepRun, item: Record<string, unknown>, context: CallContext, make: MakeCall) => {
  const { run, step } = stepRun;
  const { fallback = [] } = step;
  const own = ownModel(step);
  if (fallback.length === 0) return make(callOf(stepRun, own, item, context), own);
  for (let place = 0; ; place += 1) {
    const one = place === 0 ? own : fallback[place - 1]!;
    const isLast = place === fallback.length;
    const alternative = { place, model: one.model, isLast };
    const call = callOf(stepRun, one, item, { ...context, key: alternativeKey(context.key, place), alternative });
    try {
      return await make(call, one);
    } catch (error) {
      if (isLast || !mayTryAnother(error)) throw error;
      run.fellBack(call);
    }
  }
};
