import type { BundleOrder, BundleOutcome } from "../../run/bundle";
import { moveBundleAlias, saveBundleStep } from "./steps";

/** Runs an import: creates versions first (inner workflows before outer ones), and moves aliases last. Every step is safe to repeat. */
export async function applyBundle({ steps, moves, slugs, versions, ...order }: BundleOrder): Promise<BundleOutcome> {
  const done: BundleOutcome = { slugs: { ...slugs }, versions: { ...versions } };
  for (const step of steps) {
    const inner = Object.fromEntries(step.inner.flatMap((name) => (done.slugs[name] === undefined ? [] : [[name, done.slugs[name]]])));
    const saved = await saveBundleStep(order, step, inner);
    done.slugs[step.name] = saved.slug;
    if (saved.version > 0) done.versions[step.name] = saved.version;
  }
  for (const name of moves) await moveBundleAlias(order, done.slugs[name]!, done.versions[name]!);
  return done;
}
