import type { Batch } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Table2 } from "lucide-react";
import { useState } from "react";
import { Loaded } from "../../parts/loaded";
import { Pager } from "../../parts/pager";
import { useWorkflowNames } from "../../parts/workflow-names";
import { Button } from "../../ui/button";
import { creditNumber } from "../../ui/format";
import { Empty } from "../../ui/notice";
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
      <Loaded of={batches} lines={6}>
        {({ rows, nextCursor }) => (
          <>
            <Table
              label="Batches"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ batchId }) => batchId}
              empty={
                <Empty icon={Table2} title="No batches">
                  Choose a workflow, drop a CSV file, and run all of its rows.
                </Empty>
              }
            />
            <Pager cursor={cursor} nextCursor={nextCursor} onTurn={(to) => void navigate({ search: { cursor: to } })} />
          </>
        )}
      </Loaded>
    </Page>
  );
};
