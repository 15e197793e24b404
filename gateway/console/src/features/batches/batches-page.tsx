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
import { COMMON } from "../../messages/common";
import { BATCHES_PAGE } from "../../messages/batches";

const route = getRouteApi("/shell/batches");
const PAGE = 50;

const Name = ({ batch: { batchId, workflowSlug, model, until } }: { batch: Batch }) => {
  const nameOf = useWorkflowNames();
  return (
    <>
      <Link to="/batches/$id" params={{ id: batchId }} className="block truncate font-medium text-accent-text hover:underline">
        {workflowSlug === null ? model : nameOf(workflowSlug)}
      </Link>
      {until !== null && <span className="block truncate text-xs text-muted">{BATCHES_PAGE.upToNode(until)}</span>}
    </>
  );
};

const COLUMNS: readonly Column<Batch>[] = [
  { title: COMMON.workflow, cell: (batch) => <Name batch={batch} /> },
  { title: COMMON.status, cell: ({ status }) => <BatchStatus status={status} /> },
  { title: COMMON.items, cell: (batch) => <BatchProgress batch={batch} />, className: "min-w-32 max-md:min-w-14" },
  { title: COMMON.done, numeric: true, cell: ({ counts, total }) => BATCHES_PAGE.of(counts.completed, total) },
  { title: COMMON.failed, numeric: true, wide: true, cell: ({ counts }) => counts.failed },
  { title: COMMON.credits, numeric: true, wide: true, cell: ({ creditsCost }) => creditNumber(creditsCost) },
  { title: COMMON.started, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

export const BatchesPage = () => {
  const { cursor, workflow } = route.useSearch();
  const navigate = route.useNavigate();
  const [isNew, setNew] = useState(workflow !== undefined);
  const batches = useQuery(batchesQuery({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }));
  return (
    <Page
      title={COMMON.batches}
      lead={BATCHES_PAGE.intro}
      actions={
        <Button variant="primary" icon={Plus} onClick={() => setNew(true)}>
          {BATCHES_PAGE.newBatch}
        </Button>
      }
    >
      {isNew && <NewBatch workflow={workflow} onClose={() => setNew(false)} />}
      <Loaded of={batches} lines={6}>
        {({ rows, nextCursor }) => (
          <>
            <Table
              label={COMMON.batches}
              columns={COLUMNS}
              rows={rows}
              keyOf={({ batchId }) => batchId}
              empty={
                <Empty icon={Table2} title={BATCHES_PAGE.noBatchesYet}>
                  {BATCHES_PAGE.emptyHint}
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
