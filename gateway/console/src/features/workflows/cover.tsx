import type { WorkflowSummary } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Workflow } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { safeUrl } from "../../media/url";
import { executionsQuery } from "../../api/queries";
import { Still } from "../../media/still";
import type { OutputFile } from "../../media/files-in";
import { useMadeBy } from "../../runs/made-files";
import { Thumb } from "../../media/thumb";

const GraphCover = lazy(async () => ({ default: (await import("./graph-cover")).GraphCover }));
const GraphSketch = lazy(async () => ({ default: (await import("./graph-cover")).GraphSketch }));
const NEWEST_RUNS = 50;
const COVER_PX = 720;

/** Newest picture or video of each workflow by slug, among the newest runs. */
export const useNewestMade = (): ReadonlyMap<string, OutputFile> | undefined => {
  const { data } = useQuery({
    ...executionsQuery({ limit: NEWEST_RUNS, status: "completed" }),
    refetchInterval: false as const,
  });
  const filesOfRun = useMadeBy(data?.rows);
  if (!data) return undefined;
  const newest = new Map<string, OutputFile>();
  for (const run of data.rows) {
    if (run.workflowSlug === null || newest.has(run.workflowSlug)) continue;
    const file = filesOfRun(run).find(({ family }) => family === "image" || family === "video");
    if (file) newest.set(run.workflowSlug, file);
  }
  return newest;
};

/** True once an element has been visible. */
const useSeen = () => {
  const [isSeen, setSeen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element || isSeen) return undefined;
    const observer = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true));
    observer.observe(element);
    return () => observer.disconnect();
  }, [isSeen]);
  return { isSeen, place };
};

const PLACE = "flex aspect-video items-center justify-center overflow-hidden bg-sunken text-faint";

/** Cover of a graph that isn't saved yet. */
export const SketchCover = (graph: { nodes: readonly unknown[]; edges: readonly unknown[] }) => (
  <div className={PLACE}>
    <Suspense fallback={<Workflow className="size-8 opacity-50" aria-hidden />}>
      <GraphSketch {...graph} />
    </Suspense>
  </div>
);

/** Cover of a workflow: its own, or else its newest output, or else its graph. */
export const Cover = ({ workflow, latest }: { workflow: WorkflowSummary; latest: OutputFile | undefined }) => {
  const { isSeen, place } = useSeen();
  const { cover, thumbnail, slug, updatedAt } = workflow;
  const sign = <Workflow className="size-8 opacity-50" aria-hidden />;
  const own = safeUrl(cover?.image) ?? safeUrl(thumbnail);
  return (
    <div ref={place} className={PLACE}>
      {own !== undefined ? (
        <Still url={own} width={COVER_PX} label="" className="size-full object-cover" isPicture otherwise={sign} />
      ) : latest ? (
        <Thumb file={latest} label="" width={COVER_PX} className="size-full bg-(--media)" />
      ) : (
        <Suspense fallback={sign}>{isSeen && <GraphCover slug={slug} updatedAt={updatedAt} />}</Suspense>
      )}
    </div>
  );
};
