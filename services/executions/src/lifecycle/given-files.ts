/** Files that a run made inside a graph that its user can't read: those that its result names become the user's. */
import { innerOwner } from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { Media } from "../clients";
import type { RunInput } from "../run/types";
import type { End } from "./end";

export interface GivenFilesOptions {
  media: Pick<Media, "giveObjects">;
  /** What the addresses of stored files begin with. */
  own: string;
}

const KEY = /^[\w.-]+/;

/** Keys of the stored files that a result names, in texts, too. */
const keysIn = (result: Record<string, unknown>, own: string): string[] => {
  const [, ...named] = JSON.stringify(result).split(own);
  return [...new Set(named.flatMap((rest) => KEY.exec(rest)?.[0] ?? []))];
};

/** Ends runs as `end` does. Files change hands first: a result is never final whose files its user can't find. */
export const withGivenFiles = ({ end, ...rest }: End, { media, own }: GivenFilesOptions): End => {
  const give = async ({ userId, plan }: RunInput, result: Record<string, unknown> | null): Promise<void> => {
    if (!plan.hidesOutputs || result === null) return;
    const asked = { fromOwnerId: innerOwner(userId), ownerId: userId };
    await inMediaBatches(keysIn(result, own), async (batch) => {
      await media.giveObjects({ ...asked, keys: batch });
      return [];
    });
  };
  return {
    ...rest,
    end: async (run, seen) => {
      if ("input" in run) await give(run.input, seen.result);
      return end(run, seen);
    },
  };
};
