import { pieces } from "@nodeloom/platform";
import { accountExports as proto, type mediaExports } from "@nodeloom/proto";
import type { Leaver } from "../../workflow/leaving";
import type { MediaExports } from "../../clients";
import { TIMING } from "../../run/timing";
import { archive } from "./archive";
import type { Entries } from "./entries";
import { textEntry, type Entry } from "./entry";
import { readme } from "./readme";

export interface ExportsOptions {
  entries: Entries;
  media: Pick<MediaExports, "putExport" | "getExport">;
  leaver: Pick<Leaver, "startExport">;
}

export const createAccountExports = ({ entries, media, leaver }: ExportsOptions) => {
  async function* withReadme(userId: string, missing: string[]): AsyncIterable<Entry> {
    yield* entries(userId, { add: (what) => void missing.push(what) });
    // Written last, because `missing` is complete only now.
    yield textEntry("README.txt", readme(userId, new Date(), missing));
  }

  async function* messages(userId: string, beat: () => void): AsyncIterable<mediaExports.PutExportRequest> {
    const missing: string[] = [];
    yield { part: { $case: "header", value: { ownerId: userId } } };
    for await (const value of pieces(archive(withReadme(userId, missing)))) {
      beat();
      yield { part: { $case: "chunk", value } };
    }
    yield { part: { $case: "summary", value: { isPartial: missing.length > 0 } } };
    yield { part: { $case: "end", value: {} } };
  }

  return {
    /** Streams an archive to storage and replaces the earlier one. */
    build: async (userId: string, beat: () => void, signal: AbortSignal): Promise<void> => {
      await media.putExport(messages(userId, beat), { deadlineMs: TIMING.exportAttempt, signal });
    },

    /** Returns the archive, if there is one. Otherwise starts an export, unless one is in progress. */
    get: async (userId: string): Promise<proto.GetAccountExportResponse> => {
      const { export: stored } = await media.getExport({ ownerId: userId });
      if (!stored) await leaver.startExport(userId);
      return proto.GetAccountExportResponse.fromPartial(stored ? { export: stored } : {});
    },
  };
};

export type AccountExports = ReturnType<typeof createAccountExports>;
