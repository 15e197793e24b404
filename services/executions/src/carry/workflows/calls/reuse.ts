import { callsHttp, itemKey } from "@nodeloom/kernel/graph";
import type { TakenOver } from "../../../run/call-record";
import type { HttpNodeCall, ModelCall, TransformCall } from "../../../run/calls";
import { takeOver } from "../steps";
import { extend } from "./models";
import type { StepRun } from "./schedule";

/** Calls of a rerun that an earlier run has made already. */

/** What the calls of a step take over, by their items; undefined where they all are made. */
export const takeOverCalls = async <Call extends ModelCall | HttpNodeCall | TransformCall>(
  { run, input, step }: StepRun,
  callsOf: () => Call[],
): Promise<{ taken: (TakenOver | null)[]; calls: Call[] } | undefined> => {
  const { reuse } = input;
  if (!reuse || reuse.again.includes(step.id)) return undefined;
  if (callsHttp(step.type) && !reuse.requests.includes(step.id)) return undefined;
  const calls = callsOf();
  const taken = await takeOver({ sources: reuse.sources, calls });
  for (const one of taken) if (one) run.itemDone(step.id);
  if (taken.length === 1 && taken[0]) run.node(step.id).reusedFrom = taken[0].from;
  return { taken, calls };
};

/** Holds the calls of a rerun's step that are made and that nothing was held for: what was to be taken over may be gone. */
export const holdMade = async (stepRun: StepRun, items: number, taken: readonly (TakenOver | null)[] = []): Promise<void> => {
  const { run, input, step } = stepRun;
  const { model, maxMillicredits } = step;
  if (model === undefined || maxMillicredits === 0) return;
  const held = new Set([...input.held, ...run.extended].map(({ key }) => key));
  const keys = Array.from({ length: items }, (_, item) => itemKey(step.id, item)).filter((key, item) => !taken[item] && !held.has(key));
  if (keys.length === 0) return;
  await extend(
    stepRun,
    keys.map((key) => ({ key, model, maxMillicredits })),
  );
};
