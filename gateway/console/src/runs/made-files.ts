import type { Execution } from "@nodeloom/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { request } from "../api/client";
import { filesByRun } from "./files-by-run";
import { filesIn, type OutputFile } from "../media/files-in";

/** Number of newest files loaded. Lists of runs have only results, and a workflow without a Results node has none. */
const NEWEST = 100;

/** Files of runs: those in their results, or else those of their nodes among the newest files. @param runs newest first */
export const useMadeBy = (
  runs: readonly Pick<Execution, "executionId" | "status">[] | undefined,
): ((run: Pick<Execution, "executionId" | "result">) => readonly OutputFile[]) => {
  const [newest] = runs ?? [];
  const { data } = useQuery({
    // Reloaded when a new run starts or the newest one progresses.
    queryKey: ["media", "newest", newest?.executionId, newest?.status],
    queryFn: async ({ signal }) => (await request("listMedia", { query: { limit: NEWEST }, signal })).body.rows,
    select: filesByRun,
    enabled: newest !== undefined,
    placeholderData: keepPreviousData,
  });
  return ({ executionId, result }) => {
    const files = filesIn(result);
    return files.length > 0 ? files : (data?.get(executionId) ?? []);
  };
};
