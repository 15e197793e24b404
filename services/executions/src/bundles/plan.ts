/** Plans an import: its changes, their order, and an id that is valid only until the bundle or the account changes. */
import { createHash } from "node:crypto";
import { DomainError } from "@nodeloom/kernel";
import type { workflows } from "@nodeloom/proto";
import { invalidBundle } from "./document";
import type { Bundle } from "./reading";

export type Action = "create" | "update" | "unchanged" | "conflict";

export interface PlannedWorkflow {
  name: string;
  slug: string;
  action: Action;
  /** Reason for the conflict; empty if there is none. */
  reason: string;
  publishes: boolean;
  /** Problems that make every run invalid. */
  problems: string[];
  /** Version that the alias selects after the import; 0 if unknown. */
  version: number;
}

export interface BundlePlan {
  id: string;
  /** Inner workflows come before the workflows that use them. */
  workflows: PlannedWorkflow[];
  targets: ReadonlyMap<string, workflows.BundledWorkflow>;
}

export interface PlanChoice {
  alias: string;
  overwrite: boolean;
}

const ID_CHARS = 32;
const EDITED = "it was changed since the last import";
const FOREIGN = "the slug belongs to a workflow that no import created";

/** @throws DomainError INVALID_REQUEST if workflows use each other in a circle */
const inOrder = ({ workflows: sources }: Bundle): string[] => {
  const ordered = new Set<string>();
  const open = new Set<string>();
  const visit = (name: string): void => {
    if (ordered.has(name)) return;
    if (open.has(name)) throw invalidBundle(`workflows/${name}.json`, "uses itself, directly or through other workflows");
    open.add(name);
    for (const inner of sources.get(name)!.inner) if (sources.has(inner)) visit(inner);
    open.delete(name);
    ordered.add(name);
  };
  for (const name of [...sources.keys()].sort()) visit(name);
  return [...ordered];
};

/** Returns names and hashes of the bundle's workflows, in order. */
export const sourcesOf = ({ workflows: sources }: Bundle): [name: string, source: string][] =>
  [...sources].map(([name, { source }]): [string, string] => [name, source]).sort(([a], [b]) => (a < b ? -1 : 1));

const idOf = (bundle: Bundle, targets: readonly workflows.BundledWorkflow[], alias: string): string => {
  const states = targets.map(({ name, slug, revision, source, generation, publishedVersion, aliasVersion, aliasSetAt }) => [
    ...[name, slug, revision, source, generation, publishedVersion, aliasVersion, aliasSetAt],
  ]);
  return createHash("sha256")
    .update(JSON.stringify([sourcesOf(bundle), states, alias]))
    .digest("hex")
    .slice(0, ID_CHARS);
};

const actionOf = (
  target: workflows.BundledWorkflow,
  source: string,
  { overwrite, hasNewInner }: { overwrite: boolean; hasNewInner: boolean },
): [Action, string] => {
  if (target.slug === "") return ["create", ""];
  const reason = target.bundled ? (target.changed ? EDITED : "") : FOREIGN;
  if (reason !== "") return overwrite ? ["update", ""] : ["conflict", reason];
  return [target.source === source && !hasNewInner ? "unchanged" : "update", ""];
};

/** @param targets one for each workflow of the bundle */
export const planImport = (bundle: Bundle, targets: readonly workflows.BundledWorkflow[], { alias, overwrite }: PlanChoice): BundlePlan => {
  const byName = new Map(targets.map((target) => [target.name, target]));
  const planned = inOrder(bundle).map((name): PlannedWorkflow => {
    const [target, { source, inner, problems: issues }] = [byName.get(name)!, bundle.workflows.get(name)!];
    const hasNewInner = inner.some((one) => byName.get(one)?.slug === "");
    const [action, reason] = actionOf(target, source, { overwrite, hasNewInner });
    const publishes = alias !== "" && action !== "conflict" && (action !== "unchanged" || target.publishedVersion === 0);
    const problems = issues.map(({ nodeId, message }) => (nodeId === null ? message : `${nodeId}: ${message}`));
    return {
      name,
      slug: target.slug,
      action,
      reason,
      publishes,
      problems,
      version: alias === "" || publishes ? 0 : target.publishedVersion,
    };
  });
  const ordered = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { id: idOf(bundle, ordered, alias), workflows: planned, targets: byName };
};

/** @throws DomainError BUNDLE_CONFLICT */
export const checkConflicts = ({ workflows: planned }: BundlePlan): void => {
  const conflicts = planned.filter(({ action }) => action === "conflict").map(({ name, reason }) => ({ name, reason }));
  if (conflicts.length === 0) return;
  const text = conflicts.map(({ name, reason }) => `${name}: ${reason}`).join("; ");
  throw new DomainError("conflict", "BUNDLE_CONFLICT", `the bundle is in conflict with the account: ${text}`, { workflows: conflicts });
};

/** Rejects publishing a workflow that can't run. @throws DomainError WORKFLOW_INVALID */
export const checkPublished = (bundle: Bundle, { workflows: planned }: BundlePlan): void => {
  const issues = planned
    .filter(({ publishes }) => publishes)
    .flatMap(({ name }) => bundle.workflows.get(name)!.problems.map((issue) => ({ path: `bundle: workflows/${name}.json`, ...issue })));
  if (issues.length === 0) return;
  const text = issues.map(({ path, nodeId, message }) => `${path}: ${nodeId === null ? "" : `${nodeId}: `}${message}`).join("; ");
  throw new DomainError("precondition", "WORKFLOW_INVALID", text, { issues });
};

export const planStale = (): DomainError =>
  new DomainError("conflict", "PLAN_STALE", "the workflows or the bundle changed since this plan: send dryRun for a new one");
