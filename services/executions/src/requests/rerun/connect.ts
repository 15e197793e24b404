/** What runs and reruns need of one another's calls, put together. */
import { createProgramVersion, type Programs } from "../../calls/transforms";
import { createTakeOver, type TakeOverOptions } from "../../carry/take-over";
import type { Media } from "../../clients";
import { createKeepGraph } from "../../plan/kept-graphs";
import { createEarlierCalls, type EarlierCalls } from "../../reuse/earlier-calls";
import type { Stores } from "../../store/stores";
import { createReruns } from "./reruns";

export interface ConnectOptions extends Pick<TakeOverOptions, "catalog" | "execution" | "own"> {
  stores: Stores;
  media: Media;
  programs: Programs;
  /** What of earlier calls may be taken over. */
  earlier?: ((find: EarlierCalls) => EarlierCalls) | undefined;
}

export const connectReruns = ({ stores, media, programs, own, catalog, execution, earlier }: ConnectOptions) => {
  const found = createEarlierCalls({ calls: stores.calls, media, own });
  const look = { find: earlier?.(found) ?? found, own, programVersion: createProgramVersion(programs) };
  return {
    takeOver: createTakeOver({ ...look, catalog, calls: stores.calls, execution }),
    starting: { reruns: createReruns({ ...look, stores }), keepGraph: createKeepGraph(stores.payloads) },
  };
};
