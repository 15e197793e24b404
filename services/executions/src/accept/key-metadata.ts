/** A key can fix part of the metadata of its runs, for attribution. */
import { invalidRequest, RUN_METADATA, type Issue } from "@nodeloom/kernel";
import type { Runner } from "../run/runner";

/**
 * Merges the caller's metadata with the values that the key fixes.
 * @throws INVALID_REQUEST if the caller contradicts the key, or the merged metadata is too large
 */
export const withKeyMetadata = (
  runMetadata: Readonly<Record<string, string>>,
  runner: Pick<Runner, "keyMetadata"> | undefined,
): Record<string, string> => {
  // Rows written before keys had metadata lack `keyMetadata`.
  const fixed = Object.entries(runner?.keyMetadata ?? {});
  const all = new Map([...Object.entries(runMetadata), ...fixed]);
  const issues: Issue[] = fixed
    .filter(([name, value]) => Object.hasOwn(runMetadata, name) && runMetadata[name] !== value)
    .map(([name, value]) => ({
      path: `metadata.${name}`,
      message: `is fixed by the API key: leave it out or send ${JSON.stringify(value)}`,
    }));
  if (all.size > RUN_METADATA.entries)
    issues.push({ path: "metadata", message: `can have at most ${RUN_METADATA.entries} members, including those that the API key adds` });
  if (issues.length > 0) throw invalidRequest(issues);
  return Object.fromEntries(all);
};
