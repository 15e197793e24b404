/** Reruns reuse what the hook let go, and nothing that it has not seen. */
import type { EarlierCalls } from "../reuse/earlier-calls";
import type { ReusedResult } from "../run/call-record";
import type { ModerationStore } from "../store/moderation";
import { digestOf, isSaid } from "./content";
import type { Decide } from "./decide";
import type { Sight } from "./settings";

export interface ReuseOptions {
  store: Pick<ModerationStore, "letGo">;
  decide: Pick<Decide, "policy">;
  sees: ReadonlySet<Sight>;
}

const nameOf = (executionId: string, digest: string): string => `${executionId} ${digest}`;

/** Outputs that were let go under another policy than the hook named last are made again, as are those that it never saw. */
export const onlyLetGo =
  ({ store, decide, sees }: ReuseOptions) =>
  (find: EarlierCalls): EarlierCalls =>
  async (wanted, where) => {
    const found = await find(wanted, where);
    const isChecked = (one: ReusedResult | null): one is ReusedResult => one !== null && sees.has(isSaid(one.outputs) ? "texts" : "files");
    const checked = found.filter(isChecked).map((one) => ({ from: one.from, digest: digestOf(one.outputs) }));
    if (checked.length === 0) return found;
    const policy = decide.policy();
    const decided = await store.letGo([...new Set(checked.map(({ from }) => from))], [...new Set(checked.map(({ digest }) => digest))]);
    const isOfPolicy = (of: string | null): boolean => policy === undefined || of === policy;
    const letGo = new Set(decided.flatMap((one) => (isOfPolicy(one.policy) ? [nameOf(one.executionId, one.digest)] : [])));
    return found.map((one) => (!isChecked(one) || letGo.has(nameOf(one.from, digestOf(one.outputs))) ? one : null));
  };
