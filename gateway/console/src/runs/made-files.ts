import type { Execution } from "@nodeloom/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { request } from "../api/client";
import { filesByRun } from "./files-by-run";
import { filesIn, type OutputFile } from "../media/files-in";

/** Of the newest files so many are read: lists of runs tell results alone, and a workflow without a Results node has none. */
const NEWEST = 100;

/**
 * What runs made: the files of their result, else of their nodes, as far as those are among the newest.
 * @param runs a list, newest first
 */
export const useMadeBy = (
  runs: readonly Pick<Execution, "executionId" | "status">[] | undefined,
): ((run: Pick<Execution, "executionId" | "result">) => readonly OutputFile[]) => {
  const [newest] = runs ?? [];
  const { data } = useQuery({
    // Read again when there is another run, or the newest one got on.
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
