import type { Media } from "../clients";
import type { Stores } from "../record/stores";
import { createEarlierCalls, type EarlierCalls, type EarlierCallsOptions } from "./earlier-calls";
import { createReruns } from "./reruns";
import { createReuseCalls, type ReuseCallsOptions } from "./reuse-calls";

export interface ReuseOptions
  extends Pick<ReuseCallsOptions, "catalog" | "execution" | "own" | "programVersion">, Pick<EarlierCallsOptions, "urls"> {
  stores: Stores;
  media: Media;
  /** Limits which earlier calls can be reused. */
  earlier?: ((find: EarlierCalls) => EarlierCalls) | undefined;
}

export const createReuse = ({ stores, media, own, urls, programVersion, catalog, execution, earlier }: ReuseOptions) => {
  const earlierCalls = createEarlierCalls({ calls: stores.calls, media, own, urls });
  const step = { find: earlier?.(earlierCalls) ?? earlierCalls, own, programVersion };
  return {
    reuseCalls: createReuseCalls({ ...step, catalog, calls: stores.calls, execution }),
    reruns: createReruns({ ...step, stores }),
  };
};
