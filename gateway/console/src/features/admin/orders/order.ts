import { rankedFor, type TaskCandidate } from "@nodeloom/kernel/graph";

/** Order of models for tasks (`auto:image`), set by administrators. */

type Candidate = Pick<TaskCandidate, "internalName" | "tasks" | "runsAt" | "minTier">;

/**
 * The shortest order to store for a row. Models that the built-in order already places at the end are omitted, so that future models keep
 * their built-in position.
 * @param row all models of the task in the wanted order
 */
export const orderFor = (task: string, row: readonly string[], models: readonly Candidate[]): string[] => {
  const builtIn = rankedFor(task, models).map(({ internalName }) => internalName);
  const isEnough = (count: number): boolean => {
    const first = new Set(row.slice(0, count));
    const rest = builtIn.filter((name) => !first.has(name) && row.includes(name));
    return rest.every((name, index) => name === row[count + index]);
  };
  return row.slice(
    0,
    row.findIndex((_, count) => isEnough(count)),
  );
};

/** A copy of a row with one item moved. */
export const moved = (row: readonly string[], from: number, to: number): string[] => {
  const others = row.filter((_, index) => index !== from);
  return [...others.slice(0, to), row[from]!, ...others.slice(to)];
};
