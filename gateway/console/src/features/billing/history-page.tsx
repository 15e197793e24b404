import type { LedgerRow, Operations } from "@nodeloom/client";
import { getRouteApi, Link } from "@tanstack/react-router";
import { request } from "../../api/client";
import { DownloadButton } from "../../parts/download-button";
import { Paged } from "../../parts/paged";
import { buttonClasses } from "../../ui/button";
import { creditNumber } from "../../ui/format";
import { Select } from "../../ui/inputs/field";
import { Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";

const route = getRouteApi("/shell/history");
const PAGE = 50;

type Kind = NonNullable<NonNullable<Operations["listMyLedger"]["query"]>["kind"]>;

const KINDS: Readonly<Record<Kind, string>> = {
  topup: "Bought or given",
  adjust: "Paid back or corrected",
  plan_renewal: "Plan credits of a month",
  plan_expiry: "Plan credits that expired",
  hold: "Held by a run",
  capture: "Spent by a run",
  release: "Given back by a run",
  grant: "Trial runs",
};
const isKind = (text: string | undefined): text is Kind => text !== undefined && Object.hasOwn(KINDS, text);
const wordsOf = (kind: string): string => (isKind(kind) ? KINDS[kind] : kind);

const COLUMNS: readonly Column<LedgerRow>[] = [
  {
    title: "What",
    cell: ({ kind, model }) => <span className="block truncate">{model === null ? wordsOf(kind) : `${wordsOf(kind)} · ${model}`}</span>,
  },
  { title: "Credits", numeric: true, cell: ({ credits, runs }) => (runs === 0 ? creditNumber(credits) : `${runs} trial runs`) },
  { title: "Held", numeric: true, wide: true, cell: ({ moved }) => (moved === 0 ? "" : creditNumber(moved)) },
  {
    title: "Note",
    wide: true,
    cell: ({ note, executionId }) =>
      executionId === null ? (
        <span className="block truncate text-muted">{note}</span>
      ) : (
        <Link to="/executions/$id" params={{ id: executionId }} className="block truncate text-accent-text hover:underline">
          {note || executionId}
        </Link>
      ),
  },
  { title: "When", numeric: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

export const HistoryPage = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const kind = isKind(search.kind) ? search.kind : undefined;
  return (
    <Page
      title="History"
      lead="Every movement of your credits, newest first. They add up to your balance, to the thousandth of a credit."
      actions={
        <>
          <Link to="/balance" className={buttonClasses("secondary", "md")}>
            Balance
          </Link>
          <DownloadButton path="/api/usage/summary?groupBy=day&format=csv" label="Spent by day, as CSV" />
        </>
      }
    >
      <Select
        aria-label="Kind"
        className="mb-4 w-60!"
        value={kind ?? ""}
        onText={(text) => void navigate({ search: { kind: text || undefined } })}
        options={Object.entries(KINDS)}
      >
        <option value="">Every movement</option>
      </Select>
      <Paged<LedgerRow>
        key={kind ?? ""}
        label="Movements"
        queryKey={["my-ledger", kind ?? ""]}
        read={async (cursor, signal) => {
          const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }), ...(kind === undefined ? {} : { kind }) };
          return (await request("listMyLedger", { query, signal })).body;
        }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={kind === undefined ? "Nothing was booked yet." : "Nothing of this kind was booked yet."}
      />
    </Page>
  );
};
