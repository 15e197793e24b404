/** Transfers files to the run's user. They were created inside a graph that the user can't read, and the result refers to them. */
import { innerOwner } from "@nodeloom/kernel";
import { inMediaBatches } from "@nodeloom/platform";
import type { Media } from "../clients";
import { keysIn } from "../run/file-names";
import type { RunInput } from "../run/types";
import type { End } from "./end";

export interface GivenFilesOptions {
  media: Pick<Media, "giveObjects">;
  /** Address prefix of the platform's own storage. */
  own: string;
}

/** Wraps `end`. Files are transferred first, so that a final result never refers to a file that its user can't read. */
export const withGivenFiles = ({ end, ...rest }: End, { media, own }: GivenFilesOptions): End => {
  const give = async ({ userId, plan }: RunInput, result: Record<string, unknown> | null): Promise<void> => {
    if (!plan.hidesOutputs || result === null) return;
    const owners = { fromOwnerId: innerOwner(userId), ownerId: userId };
    await inMediaBatches(keysIn(JSON.stringify(result), own), async (batch) => {
      await media.giveObjects({ ...owners, keys: batch });
      return [];
    });
  };
  return {
    ...rest,
    end: async (run, runEnd) => {
      if ("input" in run) await give(run.input, runEnd.result);
      return end(run, runEnd);
    },
  };
};
