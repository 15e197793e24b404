/** Collects the problems of a batch's items. */
import { DomainError, type Reason } from "@nodeloom/kernel";
import { BATCH } from "../run/batch";

interface Problem {
  index: number;
  path?: string;
  nodeId?: string | null;
  message: string;
}

const OF_ITEMS: ReadonlySet<Reason> = new Set<Reason>(["INVALID_INPUTS", "WORKFLOW_INVALID"]);

/** @throws errors that the item didn't cause */
const problemsOf = (error: unknown, index: number): { reason: Reason; problems: Problem[] } => {
  if (!(error instanceof DomainError) || !OF_ITEMS.has(error.reason)) throw error;
  const issues = error.metadata.issues as readonly Omit<Problem, "index">[] | undefined;
  return { reason: error.reason, problems: (issues ?? [{ message: error.message }]).map((issue) => ({ index, ...issue })) };
};

const problemText = ({ index, path, nodeId, message }: Problem): string => {
  const where = nodeId ?? path ?? "";
  return `item ${index}: ${where === "" ? "" : `${where}: `}${message}`;
};
const NAMED_PROBLEMS = 5;

/** Problems in the order of their items. */
const firstOf = (problems: readonly Problem[]): Problem[] => problems.toSorted((a, b) => a.index - b.index).slice(0, BATCH.problems);

const invalidItems = (reasons: ReadonlySet<Reason>, issues: readonly Problem[], problems: number): DomainError => {
  const namedProblems = issues.slice(0, NAMED_PROBLEMS).map(problemText).join("; ");
  const rest = problems - NAMED_PROBLEMS;
  const message = `${namedProblems}${rest > 0 ? `; and ${rest} more` : ""}`;
  const metadata = { issues, problems };
  return reasons.has("INVALID_INPUTS")
    ? new DomainError("invalid", "INVALID_INPUTS", message, metadata)
    : new DomainError("precondition", "WORKFLOW_INVALID", message, metadata);
};

/** Counts the problems of all items, and keeps the first ones, so that a large file with an error in each row needs no memory. */
export const createProblems = () => {
  const reasons = new Set<Reason>();
  let firstProblems: Problem[] = [];
  let [items, count] = [0, 0];
  return {
    /** Number of items with a problem. */
    items: (): number => items,

    /** @throws errors that the item didn't cause */
    add: (error: unknown, index: number): void => {
      const { reason, problems } = problemsOf(error, index);
      reasons.add(reason);
      items += 1;
      count += problems.length;
      firstProblems.push(...problems.slice(0, BATCH.problems));
      if (firstProblems.length > 2 * BATCH.problems) firstProblems = firstOf(firstProblems);
    },

    /** @throws INVALID_INPUTS or WORKFLOW_INVALID if there are problems */
    check: (): void => {
      if (items > 0) throw invalidItems(reasons, firstOf(firstProblems), count);
    },
  };
};
