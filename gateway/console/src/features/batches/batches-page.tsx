import type { Batch } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Table2 } from "lucide-react";
import { useState } from "react";
import { LoadFailure } from "../../parts/error-pages";
import { useWorkflowNames } from "../../parts/workflow-names";
import { Button } from "../../ui/button";
import { creditNumber } from "../../ui/format";
import { Empty, Skeleton } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { BatchProgress, BatchStatus } from "./batch-status";
import { NewBatch } from "./new-batch";
import { batchesQuery } from "./queries";

const route = getRouteApi("/shell/batches");
const PAGE = 50;

const Name = ({ batch: { batchId, workflowSlug, model, until } }: { batch: Batch }) => {
  const nameOf = useWorkflowNames();
  return (
    <>
      <Link to="/batches/$id" params={{ id: batchId }} className="block truncate font-medium text-accent-text hover:underline">
        {workflowSlug === null ? model : nameOf(workflowSlug)}
      </Link>
      {until !== null && <span className="block truncate text-xs text-muted">to the node {until}</span>}
    </>
  );
};

const COLUMNS: readonly Column<Batch>[] = [
  { title: "Batch of", cell: (batch) => <Name batch={batch} /> },
  { title: "Status", cell: ({ status }) => <BatchStatus status={status} /> },
  { title: "Items", cell: (batch) => <BatchProgress batch={batch} />, className: "min-w-32 max-md:min-w-14" },
  { title: "Done", numeric: true, cell: ({ counts, total }) => `${counts.completed} of ${total}` },
  { title: "Failed", numeric: true, wide: true, cell: ({ counts }) => counts.failed },
  { title: "Credits", numeric: true, wide: true, cell: ({ creditsCost }) => creditNumber(creditsCost) },
  { title: "Started", numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

export const BatchesPage = () => {
  const { cursor, workflow } = route.useSearch();
  const navigate = route.useNavigate();
  const [isNew, setNew] = useState(workflow !== undefined);
  const batches = useQuery(batchesQuery({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }));
  const { data } = batches;
  return (
    <Page
      title="Batches"
      lead="Run a workflow with every row of a table, under one price and one budget."
      actions={
        <Button variant="primary" icon={Plus} onClick={() => setNew(true)}>
          New batch
        </Button>
      }
    >
      {isNew && <NewBatch workflow={workflow} onClose={() => setNew(false)} />}
      {batches.isPending && <Skeleton lines={6} />}
      {batches.isError && <LoadFailure error={batches.error} retry={() => void batches.refetch()} />}
      {data?.rows.length === 0 && (
        <Empty icon={Table2} title="No batches">
          Choose a workflow, drop a CSV file, and run all of its rows.
        </Empty>
      )}
      {data && data.rows.length > 0 && <Table label="Batches" columns={COLUMNS} rows={data.rows} keyOf={({ batchId }) => batchId} />}
      {(cursor !== undefined || data?.nextCursor) && (
        <div className="mt-4 flex justify-end gap-2">
          {cursor !== undefined && <Button onClick={() => void navigate({ search: {} })}>Newest</Button>}
          <Button disabled={!data?.nextCursor} onClick={() => void navigate({ search: { cursor: data?.nextCursor ?? undefined } })}>
            Older
          </Button>
        </div>
      )}
    </Page>
  );
};
