/** Sums of runs by key, workflow or a metadata value. */

import { invalidRequest, LIMITS } from "@nodeloom/kernel";
import type { GroupSumsQuery } from "../requests";
import type { GroupedPart } from "../store";

export interface GroupSum {
  /** Id of a key, a slug, or a metadata value; null for runs without one. */
  group: string | null;
  runs: number;
  millicredits: number;
}

type Grouping = Pick<GroupSumsQuery, "by" | "name" | "sources">;

const groupOf = ({ by, name }: Grouping, { keyId, workflowSlug, metadata }: GroupedPart): string | null => {
  switch (by) {
    case "key":
      return keyId || null;
    case "workflow":
      return workflowSlug || null;
    case "metadata":
      return Object.hasOwn(metadata, name) ? metadata[name]! : null;
  }
};

const tooMuch = (what: string): Error =>
  invalidRequest([{ path: "from", message: `the days have more than ${what}: request fewer days at a time` }]);

/**
 * Sums rows by group, most expensive group first.
 * @throws INVALID_REQUEST if there are too many rows or groups
 */
export const groupSumsOf = async (rows: AsyncIterable<GroupedPart>, grouping: Grouping): Promise<GroupSum[]> => {
  const sums = new Map<string | null, GroupSum>();
  let readRows = 0;
  for await (const row of rows) {
    readRows += 1;
    if (readRows > LIMITS.usageGroupedRuns) throw tooMuch(`${LIMITS.usageGroupedRuns} runs`);
    if (grouping.sources.length > 0 && !grouping.sources.includes(row.source)) continue;
    const group = groupOf(grouping, row);
    const sum = sums.get(group) ?? { group, runs: 0, millicredits: 0 };
    if (sum.runs === 0 && sums.size >= LIMITS.usageGroups) throw tooMuch(`${LIMITS.usageGroups} groups`);
    sums.set(group, { ...sum, runs: sum.runs + 1, millicredits: sum.millicredits + row.millicredits });
  }
  return [...sums.values()].sort((one, other) => other.millicredits - one.millicredits || other.runs - one.runs);
};
