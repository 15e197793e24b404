import type { Execution } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { History, RotateCcw, Trash2 } from "lucide-react";
import { Loaded } from "../../parts/loaded";
import { Pager } from "../../parts/pager";
import { mayAs } from "../../api/organization";
import { executionsQuery, meQuery } from "../../api/queries";
import type { OutputFile } from "../../media/files-in";
import { useMadeBy } from "../../runs/made-files";
import { sourceWords } from "../../runs/source";
import { RunStatus } from "../../runs/status";
import { OutputThumb } from "../../media/output-thumb";
import { causeOf } from "../../runs/trouble/cause";
import { buttonClasses } from "../../ui/button";
import { classes } from "../../ui/classes";
import { creditNumber, duration } from "../../ui/format";
import { Empty } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { filterOf, Filters } from "./filters";
import { useWorkflowNames } from "../../parts/workflow-names";
import { COMMON } from "../../messages/common";
import { LIST_PAGE } from "../../messages/executions";

const route = getRouteApi("/shell/executions");
const PAGE = 50;
const THUMBS = 3;
/** Number of thumbnails in small windows. */
const FEW_THUMBS = 2;
const THUMB_PX = 72;

/** Thumbnails of a run's first files. */
const Made = ({ files }: { files: readonly OutputFile[] }) => {
  const more = files.length - THUMBS;
  return (
    <span className="flex items-center gap-1">
      {files.slice(0, THUMBS).map((file, index) => (
        <OutputThumb
          key={file.url}
          file={file}
          label={LIST_PAGE.result(index + 1)}
          width={THUMB_PX}
          className={classes("size-9 shrink-0 rounded-md bg-(--media)", index >= FEW_THUMBS && "max-xl:hidden")}
        />
      ))}
      {more > 0 && <span className="text-xs text-faint max-xl:hidden">+{more}</span>}
    </span>
  );
};

/** A run by its workflow's name, if known. */
const Name = ({ execution: { executionId, workflowSlug, modelIds, createdAt } }: { execution: Execution }) => {
  const nameOf = useWorkflowNames();
  return (
    <>
      <Link to="/executions/$id" params={{ id: executionId }} className="block truncate font-medium text-accent-text hover:underline">
        {(workflowSlug === null ? modelIds[0] : nameOf(workflowSlug)) ?? executionId}
      </Link>
      <span className="text-xs text-faint md:hidden">
        <Time iso={createdAt} />
      </span>
    </>
  );
};

const columnsOf = (madeBy: (execution: Execution) => readonly OutputFile[]): readonly Column<Execution>[] => [
  { title: COMMON.workflow, className: "max-xl:max-w-40! max-md:max-w-28!", cell: (execution) => <Name execution={execution} /> },
  { title: LIST_PAGE.output, cell: (execution) => <Made files={madeBy(execution)} /> },
  {
    title: COMMON.status,
    cell: (execution) => (
      <>
        <RunStatus status={execution.status} />
        {/* Where there is no room for a column of its own. */}
        <span className="mt-0.5 block max-w-36 truncate text-xs text-bad max-md:max-w-24 xl:hidden">{causeOf(execution)}</span>
      </>
    ),
  },
  {
    title: COMMON.error,
    wide: "widest",
    cell: (execution) => <span className="block truncate text-bad">{causeOf(execution)}</span>,
  },
  { title: COMMON.source, wide: "widest", cell: ({ source }) => sourceWords(source) },
  { title: COMMON.duration, numeric: true, wide: "widest", cell: ({ durationMs }) => duration(durationMs) },
  { title: COMMON.credits, numeric: true, wide: true, cell: ({ creditsCost }) => creditNumber(creditsCost) },
  { title: COMMON.started, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
  {
    title: COMMON.actions,
    wide: true,
    cell: ({ executionId, workflowSlug }) =>
      workflowSlug !== null && (
        <Link
          to="/workflows/$slug"
          params={{ slug: workflowSlug }}
          search={{ run: executionId }}
          aria-label={LIST_PAGE.runAgainOf(workflowSlug)}
          title={LIST_PAGE.runAgain}
          className="inline-flex size-7 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-text"
        >
          <RotateCcw className="size-4" aria-hidden />
        </Link>
      ),
  },
];

export const ExecutionsPage = () => {
  const { cursor, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: me } = useSuspenseQuery(meQuery);
  const runs = useQuery(executionsQuery({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }), ...filterOf(search) }));
  const filesOfRun = useMadeBy(runs.data?.rows);
  return (
    <Page
      title={COMMON.runs}
      lead={LIST_PAGE.subtitle}
      actions={
        me &&
        mayAs(me, "owner") && (
          <Link to="/erasures" className={buttonClasses("secondary")}>
            <Trash2 className="size-4" aria-hidden /> {LIST_PAGE.eraseRuns}
          </Link>
        )
      }
    >
      <Filters {...search} />
      <Loaded of={runs} lines={8}>
        {({ rows, nextCursor }) => (
          <>
            <Table
              label={COMMON.runs}
              columns={columnsOf(filesOfRun)}
              rows={rows}
              keyOf={({ executionId }) => executionId}
              empty={
                <Empty icon={History} title={LIST_PAGE.noRuns}>
                  {Object.values({ ...search, cursor }).some((filterValue) => filterValue !== undefined)
                    ? LIST_PAGE.noMatches
                    : LIST_PAGE.emptyHint}
                </Empty>
              }
            />
            <Pager cursor={cursor} nextCursor={nextCursor} onTurn={(to) => void navigate({ search: (old) => ({ ...old, cursor: to }) })} />
          </>
        )}
      </Loaded>
    </Page>
  );
};
