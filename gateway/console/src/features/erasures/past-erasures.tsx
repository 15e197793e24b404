import type { Erasure } from "@nodeloom/client";
import { Link } from "@tanstack/react-router";
import { request } from "../../api/client";
import { Paged } from "../../parts/paged";
import { Badge } from "../../ui/badge";
import { whole } from "../../ui/format";
import { Card } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { COMMON } from "../../messages/common";
import { ERASE_RUNS } from "../../messages/erasures";

const PAGE = 20;
const POLL_MS = 3_000;

const selectionOf = ({ by, metadataName }: Erasure): string => {
  switch (by) {
    case "metadata":
      return ERASE_RUNS.byName(metadataName ?? "");
    case "workflow":
      return ERASE_RUNS.byWorkflow;
    case "executions":
      return ERASE_RUNS.byIds;
  }
};

const COLUMNS: readonly Column<Erasure>[] = [
  {
    title: ERASE_RUNS.selection,
    cell: (erasure) => (
      <Link to="/erasures" search={{ erasure: erasure.erasureId }} className="text-accent-text hover:underline wrap-anywhere">
        {selectionOf(erasure)}
      </Link>
    ),
  },
  {
    title: ERASE_RUNS.state,
    cell: ({ state }) => <Badge tone={state === "completed" ? "ok" : "accent"}>{ERASE_RUNS[state]}</Badge>,
  },
  { title: ERASE_RUNS.matched, numeric: true, wide: true, cell: ({ matched }) => whole(matched) },
  { title: ERASE_RUNS.erased, numeric: true, wide: true, cell: ({ erased }) => whole(erased) },
  { title: ERASE_RUNS.remaining, numeric: true, wide: true, cell: ({ remaining }) => whole(remaining) },
  { title: COMMON.created, numeric: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

/** The account's erasures, newest first. */
export const PastErasures = () => (
  <Card title={ERASE_RUNS.past} className="mt-5">
    <Paged
      label={ERASE_RUNS.past}
      queryKey={["erasures", "list"]}
      read={async (cursor, signal) =>
        (await request("listErasures", { query: { limit: PAGE, ...(cursor ? { cursor } : {}) }, signal })).body
      }
      columns={COLUMNS}
      keyOf={({ erasureId }) => erasureId}
      empty={ERASE_RUNS.noneYet}
      pollMs={(rows) => rows.some(({ state }) => state === "running") && POLL_MS}
    />
    <p className="mt-3 text-xs text-faint">{ERASE_RUNS.pastHint}</p>
  </Card>
);
