import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { afterRun, executionsQuery } from "../../api/queries";
import { watchRun } from "../../runs/live";
import { useMadeBy } from "../../runs/made-files";
import { RunStatus } from "../../runs/status";
import { OutputThumb } from "../../media/output-thumb";
import { classes } from "../../ui/classes";
import { ago, roundCredits } from "../../ui/format";
import { useEditor } from "../context";
import { RECENT_RUNS } from "../../messages/editor/panels";

const LISTED = 5;
const THUMBS = 3;
const THUMB_PX = 56;

/** Newest runs of the workflow, with outputs and links to the canvas. */
export const RecentRuns = ({ activeId }: { activeId: string | undefined }) => {
  const { slug } = useEditor();
  const client = useQueryClient();
  const { data } = useQuery(executionsQuery({ workflowSlug: slug, limit: LISTED }));
  const filesOfRun = useMadeBy(data?.rows);
  const rows = data?.rows ?? [];
  if (!rows.some(({ executionId }) => executionId !== activeId)) return null;
  return (
    <section aria-label={RECENT_RUNS.recentRuns} className="border-t pt-4">
      <header className="mb-1 flex items-center justify-between gap-2">
        <h2 className="text-[13px] font-semibold">{RECENT_RUNS.recentRuns}</h2>
        <Link to="/executions" search={{ workflow: slug }} className="text-xs text-accent-text underline underline-offset-2">
          {RECENT_RUNS.allRuns}
        </Link>
      </header>
      <ul className="-mx-2">
        {rows.map((run) => (
          <li key={run.executionId}>
            <button
              type="button"
              aria-pressed={run.executionId === activeId}
              className={classes(
                "flex w-full items-center gap-2 rounded-lg px-2 py-1 text-left text-xs text-muted hover:bg-hover",
                run.executionId === activeId && "bg-sunken",
              )}
              onClick={() => watchRun(slug, run.executionId, () => afterRun(client))}
            >
              <RunStatus status={run.status} />
              <span className="min-w-0 flex-1 truncate">
                {run.createdAt !== null && ago(run.createdAt)}
                {run.creditsCost > 0 && RECENT_RUNS.cr(roundCredits(run.creditsCost))}
              </span>
              <span className="flex gap-1">
                {filesOfRun(run)
                  .slice(0, THUMBS)
                  .map((file) => (
                    <OutputThumb key={file.url} file={file} label="" width={THUMB_PX} className="size-7 shrink-0 rounded-md bg-(--media)" />
                  ))}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
};
