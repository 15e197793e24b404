import type { Batch, BatchRow } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { CircleStop, Play, RotateCcw } from "lucide-react";
import { useState } from "react";
import { DownloadButton } from "../../parts/download-button";
import { Loading, NotThere } from "../../parts/error-pages";
import { api } from "../../api/client";
import { executionQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { useWorkflowNames } from "../../parts/workflow-names";
import { filesIn } from "../../media/files-in";
import { nodeOutputOf, type NodeOutput } from "../../runs/node-output";
import { OutputThumb } from "../../media/output-thumb";
import { Pager } from "../../parts/pager";
import { Button, ButtonRow, buttonClasses } from "../../ui/button";
import { credits } from "../../ui/format";
import { Input } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { Card, Facts, Page } from "../../ui/page";
import { Time } from "../../ui/time";
import { BatchProgress, BatchStatus, RowStatus } from "./batch-status";
import { batchQuery, isGoing } from "./queries";
import { COMMON } from "../../messages/common";
import { BATCH_PAGE } from "../../messages/batches";

const route = getRouteApi("/shell/batches/$id");
const PAGE = 60;
const THUMB_PX = 240;
const TEXT_CHARS = 160;

const short = (value: unknown): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > TEXT_CHARS ? `${text.slice(0, TEXT_CHARS)}…` : text;
};
const firstOf = (values: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const [first] = Object.values(values ?? {});
  return first === undefined ? undefined : short(first);
};

/** Output of an item: its result, or else the output of its target node. */
const useGiven = ({ row, until }: CellProps): NodeOutput => {
  const isPart = until !== null && row.status === "completed";
  const { data } = useQuery({ ...executionQuery(row.executionId), enabled: isPart });
  const ofNode = isPart ? nodeOutputOf(data, until) : undefined;
  return ofNode ?? { files: filesIn(row.result), text: row.error ? row.error.message : firstOf(row.result) };
};

/** Input of an item: its settings, or else its first input. */
const givenWith = ({ settings, inputs }: BatchRow): string | undefined => {
  const own = Object.values(settings ?? {}).map((one) => JSON.stringify(one).replaceAll(/[{}"]/g, "").replaceAll(/[:,]/g, "$& "));
  return own.length > 0 ? own.join(" · ") : firstOf(inputs);
};

interface CellProps {
  row: BatchRow;
  /** Target node of all items. */
  until: string | null;
}

/** An item: output or state, above its input. */
const Cell = (props: CellProps) => {
  const { row } = props;
  const {
    files: [file],
    text,
  } = useGiven(props);
  const body = (
    <>
      {file ? (
        <OutputThumb
          file={file}
          label={BATCH_PAGE.resultOfItem(row.index + 1)}
          width={THUMB_PX}
          className="h-28 w-full rounded-lg bg-(--media)"
        />
      ) : (
        <span className="block h-28 overflow-hidden rounded-lg bg-sunken p-2 text-xs wrap-anywhere text-muted">{text}</span>
      )}
      <span className="mt-2 flex items-center justify-between gap-2">
        <span className="text-xs text-faint tabular-nums">{row.index + 1}</span>
        <RowStatus status={row.status} />
      </span>
      <span className="mt-1 block truncate text-xs text-muted">{givenWith(row)}</span>
    </>
  );
  const hasBegun = row.status !== "waiting" && row.status !== "skipped";
  return (
    <li className="min-w-0 rounded-xl border bg-surface p-2.5">
      {hasBegun ? (
        <Link to="/executions/$id" params={{ id: row.executionId }} className="block hover:opacity-85">
          {body}
        </Link>
      ) : (
        body
      )}
    </li>
  );
};

/** Reason why a batch is paused, with the way to resume it. */
const Paused = ({ batch }: { batch: Batch }) => {
  const [limit, setLimit] = useState("");
  const { busy, run } = useChange("batch", "batches");
  const isBudget = batch.reason?.code === "BUDGET_EXCEEDED";
  // The account's budget can have been raised since.
  const needsLimit = isBudget && batch.maxCredits !== null && batch.reason?.scope === "batch";
  const resume = () =>
    run(() => api.batches.resume(batch.batchId, limit.trim() === "" ? undefined : Number(limit)), BATCH_PAGE.theBatchContinues);
  return (
    <Notice
      kind="warn"
      title={needsLimit ? BATCH_PAGE.creditLimitReached : isBudget ? BATCH_PAGE.budgetUsedUp : BATCH_PAGE.paused}
      className="mb-4"
      actions={
        <ButtonRow>
          {batch.maxCredits !== null && (
            <Input
              type="number"
              aria-label={BATCH_PAGE.newLimitInCredits}
              placeholder={BATCH_PAGE.moreThan(batch.maxCredits)}
              value={limit}
              onText={setLimit}
              className="w-40"
            />
          )}
          <Button icon={Play} busy={busy} disabled={needsLimit && limit.trim() === ""} onClick={() => void resume()}>
            {BATCH_PAGE.resume}
          </Button>
        </ButtonRow>
      }
    >
      {batch.reason?.message}
    </Notice>
  );
};

const Actions = ({ batch }: { batch: Batch }) => {
  const navigate = useNavigate();
  const { busy, run } = useChange("batch", "batches");
  const { batchId, counts, status, until, workflowSlug } = batch;
  const rerun = async (): Promise<void> => {
    const created = await run(() => api.batches.rerun(batchId, "failed"), BATCH_PAGE.retryHint);
    if (created) void navigate({ to: "/batches/$id", params: { id: created.batchId } });
  };
  const isOpen = status === "running" || status === "paused";
  return (
    <>
      {isOpen && (
        <Button icon={CircleStop} busy={busy} onClick={() => void run(() => api.batches.cancel(batchId))}>
          {COMMON.cancel}
        </Button>
      )}
      {counts.failed > 0 && (
        <Button icon={RotateCcw} busy={busy} onClick={() => void rerun()}>
          {BATCH_PAGE.runFailedAgain(counts.failed)}
        </Button>
      )}
      {until !== null && workflowSlug !== null && (
        <Link to="/workflows/$slug" params={{ slug: workflowSlug }} search={{ node: until }} className={buttonClasses()}>
          {BATCH_PAGE.openWorkflow}
        </Link>
      )}
      {(["csv", "jsonl"] as const).map((format) => (
        <DownloadButton key={format} path={`/api/batches/${batchId}/results?format=${format}`} label={format.toUpperCase()} />
      ))}
    </>
  );
};

export const BatchPage = () => {
  const { id } = route.useParams();
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const nameOf = useWorkflowNames();
  const batchResult = useQuery(batchQuery(id, { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }));
  const { data: batch } = batchResult;
  if (batchResult.isPending) return <Loading />;
  if (batch === undefined)
    return (
      <NotThere
        error={batchResult.error}
        retry={() => void batchResult.refetch()}
        title={BATCH_PAGE.notFound}
        list={{ to: "/batches", title: BATCH_PAGE.goToBatches }}
      >
        {BATCH_PAGE.notFoundHint}
      </NotThere>
    );
  const { counts, total } = batch;
  return (
    <Page
      title={batch.workflowSlug === null ? (batch.model ?? BATCH_PAGE.batch) : nameOf(batch.workflowSlug)}
      lead={BATCH_PAGE.batchOf(total)}
      actions={<Actions batch={batch} />}
    >
      {batch.status === "paused" && <Paused batch={batch} />}
      {batch.status === "running" && batch.reason && (
        <Notice kind="warn" title={BATCH_PAGE.waiting} className="mb-4">
          {batch.reason.message}
        </Notice>
      )}
      <Card className="mb-6" title={<BatchStatus status={batch.status} />}>
        <BatchProgress batch={batch} />
        <div className="mt-4" aria-live={isGoing(batch.status) ? "polite" : undefined}>
          <Facts
            rows={[
              [COMMON.completed, BATCH_PAGE.of(counts.completed, total)],
              [COMMON.failed, counts.failed],
              [BATCH_PAGE.inProgress, counts.processing],
              [
                BATCH_PAGE.cost,
                batch.maxCredits === null
                  ? credits(batch.creditsCost)
                  : BATCH_PAGE.costOfLimit(credits(batch.creditsCost), batch.maxCredits),
              ],
              [COMMON.started, <Time key="started" iso={batch.createdAt} />],
            ]}
          />
        </div>
      </Card>
      <ul aria-label={COMMON.items} className="grid grid-cols-[repeat(auto-fill,minmax(9.5rem,1fr))] gap-3">
        {batch.rows.map((row) => (
          <Cell key={row.index} row={row} until={batch.until} />
        ))}
      </ul>
      <Pager
        cursor={cursor}
        nextCursor={batch.nextCursor}
        onTurn={(to) => void navigate({ search: { cursor: to } })}
        words={[BATCH_PAGE.newestItems, BATCH_PAGE.nextItems]}
      />
    </Page>
  );
};
