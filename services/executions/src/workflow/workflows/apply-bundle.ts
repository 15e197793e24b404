import type { BundleOrder, BundleOutcome } from "../../run/bundle";
import { moveBundleAlias, saveBundleStep } from "./steps";

/** Runs an import: creates versions first (inner workflows before outer ones), and moves aliases last. Every step is safe to repeat. */
export async function applyBundle({ steps, moves, slugs, versions, ...order }: BundleOrder): Promise<BundleOutcome> {
  const outcome: BundleOutcome = { slugs: { ...slugs }, versions: { ...versions } };
  for (const step of steps) {
    const inner = Object.fromEntries(
      step.inner.flatMap((name) => (outcome.slugs[name] === undefined ? [] : [[name, outcome.slugs[name]]])),
    );
    const saved = await saveBundleStep(order, step, inner);
    outcome.slugs[step.name] = saved.slug;
    if (saved.version > 0) outcome.versions[step.name] = saved.version;
  }
  for (const name of moves) await moveBundleAlias(order, outcome.slugs[name]!, outcome.versions[name]!);
  return outcome;
}
