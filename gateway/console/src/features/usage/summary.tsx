import type { LedgerRow } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { request } from "../../api/client";
import { summaryQuery } from "../../api/queries";
import { Paged } from "../../app/paged";
import { creditNumber, credits, whole } from "../../ui/format";
import { Card } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { Bars } from "./bars";

/** Credits by day and by model, runs from the console included. */
export const Summary = () => {
  const { data } = useQuery(summaryQuery);
  if (!data || data.days.length === 0) return null;
  const byModel = new Map<string, number>();
  for (const { model, creditsCost } of data.days.flatMap(({ models }) => models))
    byModel.set(model, (byModel.get(model) ?? 0) + creditsCost);
  const words = `${credits(data.creditsCost)} in ${whole(data.runs)} ${data.runs === 1 ? "run" : "runs"}, from the console and by key`;
  return (
    <div className="mb-5 grid gap-5 lg:grid-cols-2">
      <Card title="Credits by day">
        <Bars label="Credits by day" bars={data.days.map(({ day, creditsCost }) => [day, creditsCost] as const)} />
        <p className="mt-2 text-xs text-faint">{words}.</p>
      </Card>
      <Card title="Credits by model">
        <Bars label="Credits by model" bars={[...byModel].sort(([, a], [, b]) => b - a)} />
      </Card>
    </div>
  );
};

const COLUMNS: readonly Column<LedgerRow>[] = [
  { title: "Kind", cell: ({ kind, model }) => <span className="block truncate">{model === null ? kind : `${kind} · ${model}`}</span> },
  { title: "Credits", numeric: true, cell: ({ credits: amount, runs }) => (runs === 0 ? creditNumber(amount) : `${runs} trial runs`) },
  { title: "Held", numeric: true, wide: true, cell: ({ moved }) => (moved === 0 ? "" : creditNumber(moved)) },
  { title: "Note", wide: true, cell: ({ note, executionId }) => <span className="block truncate text-muted">{note || executionId}</span> },
  { title: "When", numeric: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

/** Every movement of one's own account. */
export const OwnLedger = () => (
  <details className="mt-6 rounded-2xl border bg-surface p-5">
    <summary className="text-[15px] font-semibold">Movements of your account</summary>
    <div className="mt-4">
      <Paged<LedgerRow>
        label="Movements"
        queryKey={["my-ledger"]}
        read={async (cursor, signal) =>
          (await request("listMyLedger", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) }, signal })).body
        }
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty="Nothing was booked yet."
      />
    </div>
  </details>
);
