import { rankedFor, type TaskCandidate } from "@nodeloom/kernel/graph";

/** orders/: which models are taken for tasks (`auto:image`), put in order by administrators. */

type Candidate = Pick<TaskCandidate, "internalName" | "tasks" | "runsAt" | "minTier">;

/**
 * What an order must say so that models come in a row: those at its beginning that the built-in order does not bring by itself, so
 * that models which come later find the place that is built in.
 * @param row all models that do the task, as they are to be tried
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

/** A row with one of its items at another place. */
export const moved = (row: readonly string[], from: number, to: number): string[] => {
  const others = row.filter((_, index) => index !== from);
  return [...others.slice(0, to), row[from]!, ...others.slice(to)];
};
