import { ActivityCancellationType, proxyActivities } from "@temporalio/workflow";
import { authorFilesOf, resultFiles, type MediaValue, type PlanStep, type ResultFile, type RunPlan } from "@nodeloom/kernel/graph";
import type { Activities } from "../../contract/activity-types";
import type { CallContext } from "../../contract/run-types";
import { ATTEMPTS, TIMING } from "../../contract/timing";
import type { GraphRun } from "./graph-run";
import { onlyIf, short, shortly, type CallManner } from "./short-calls";
import type { Waves } from "./waves";

const { keepFile } = proxyActivities<Activities>({
  // The time of the fetch itself is kept by the activity.
  startToCloseTimeout: TIMING.run,
  heartbeatTimeout: TIMING.heartbeat,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: 250, backoffCoefficient: 2, maximumInterval: "10s", maximumAttempts: ATTEMPTS.keepFile },
});

type CallItems = <T>(
  items: Record<string, unknown>[],
  callItem: (item: Record<string, unknown>, index: number) => Promise<T>,
) => Promise<T[]>;

interface Options {
  run: GraphRun;
  plan: RunPlan;
  context: (item: number, items: number) => CallContext;
  callItems: CallItems;
  waves: Waves | undefined;
  manner: CallManner;
}

const keyOf = ({ family, reference }: ResultFile): string => `${family} ${reference}`;

/** Fetches what a result names and is not in our storage, each file once, and gives the files as the step's outputs. */
export const keepFiles = async (step: PlanStep, { run, plan, context, callItems, waves, manner }: Options): Promise<void> => {
  const files = resultFiles(step, run.outputs, plan.storage);
  const foreign = [...new Map(files.filter((file) => file.stored === undefined).map((file) => [keyOf(file), file])).values()];
  run.countCalls(step.id, foreign.length);
  const kept = await callItems(
    foreign.map(() => ({})),
    async (_item, index): Promise<[string, MediaValue]> => {
      const { port, family, reference, given } = foreign[index]!;
      const authorFiles = authorFilesOf(plan);
      const call = { ...context(index, foreign.length), port, family, reference, given, ...(authorFiles ? { authorFiles } : {}) };
      if (waves) await waves.take(call);
      const summary = `result: ${port}`;
      const file = await shortly(
        onlyIf(manner, foreign.length === 1),
        (claim) => short.keepFile.executeWithOptions({ summary }, [call, ...claim]),
        () => keepFile.executeWithOptions({ summary }, [call]),
      );
      run.itemDone(step.id);
      return [keyOf(foreign[index]!), file];
    },
  );
  const known = new Map(kept);
  for (const port of Object.keys(step.sources)) {
    const own = files.filter((file) => file.port === port);
    run.give(
      step.id,
      port,
      own.map((file) => file.stored ?? known.get(keyOf(file))),
    );
  }
};
