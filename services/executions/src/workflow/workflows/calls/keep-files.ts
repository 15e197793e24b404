import { resultFiles, type MediaValue, type ResultFile } from "@nodeloom/kernel/graph";
import { keepFile, shortKeepFile } from "../steps";
import { shortly, callItems, type StepRun } from "./schedule";

const keyOf = ({ family, reference }: ResultFile): string => `${family} ${reference}`;

/** Stores each file of a result that isn't in the platform's storage. Each file is stored once. Returns the files as outputs. */
export const keepFiles = async ({ run, input: { plan }, step, context, batches, isAlone }: StepRun): Promise<void> => {
  const files = resultFiles(step, run.outputs, plan.storage);
  const foreign = [...new Map(files.filter((file) => file.stored === undefined).map((file) => [keyOf(file), file])).values()];
  run.countCalls(step.id, foreign.length);
  const storedFiles = await callItems(
    batches,
    foreign.map(() => ({})),
    async (_item, index): Promise<[string, MediaValue]> => {
      const { port, family, reference, given } = foreign[index]!;
      const authorFiles = plan.authorFiles;
      const call = { ...context(index, foreign.length), port, family, reference, given, ...(authorFiles ? { authorFiles } : {}) };
      await batches.take(call);
      const summary = `result: ${port}`;
      const file = await shortly(
        isAlone && foreign.length === 1,
        () => shortKeepFile.executeWithOptions({ summary }, [call]),
        () => keepFile.executeWithOptions({ summary }, [call]),
      );
      run.itemDone(step.id);
      return [keyOf(foreign[index]!), file];
    },
  );
  const filesByKey = new Map(storedFiles);
  for (const port of Object.keys(step.sources)) {
    const own = files.filter((file) => file.port === port);
    run.give(
      step.id,
      port,
      own.map((file) => file.stored ?? filesByKey.get(keyOf(file))),
    );
  }
};
