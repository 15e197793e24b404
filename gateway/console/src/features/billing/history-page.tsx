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
import { COMMON } from "../../messages/common";
import { HISTORY_PAGE } from "../../messages/billing";

const route = getRouteApi("/shell/history");
const PAGE = 50;

type Kind = NonNullable<NonNullable<Operations["listMyLedger"]["query"]>["kind"]>;

const KINDS: Readonly<Record<Kind, string>> = {
  topup: HISTORY_PAGE.topUps,
  adjust: HISTORY_PAGE.refundsAndCorrections,
  plan_renewal: HISTORY_PAGE.monthlyPlanCredits,
  plan_expiry: HISTORY_PAGE.expiredPlanCredits,
  hold: HISTORY_PAGE.heldByARun,
  capture: HISTORY_PAGE.spentByARun,
  release: HISTORY_PAGE.returnedByARun,
  grant: COMMON.trialRuns,
};
const isKind = (text: string | undefined): text is Kind => text !== undefined && Object.hasOwn(KINDS, text);
const wordsOf = (kind: string): string => (isKind(kind) ? KINDS[kind] : kind);

const COLUMNS: readonly Column<LedgerRow>[] = [
  {
    title: HISTORY_PAGE.type,
    cell: ({ kind, model, createdAt }) => (
      <>
        <span className="block truncate">{model === null ? wordsOf(kind) : `${wordsOf(kind)} · ${model}`}</span>
        <span className="text-xs text-faint md:hidden">
          <Time iso={createdAt} />
        </span>
      </>
    ),
  },
  {
    title: COMMON.credits,
    numeric: true,
    cell: ({ credits, runs }) => (runs === 0 ? creditNumber(credits) : HISTORY_PAGE.trialRuns(runs)),
  },
  { title: HISTORY_PAGE.held, numeric: true, wide: true, cell: ({ moved }) => (moved === 0 ? "" : creditNumber(moved)) },
  {
    title: HISTORY_PAGE.note,
    wide: true,
    className: "max-xl:max-w-44!",
    cell: ({ note, executionId }) =>
      executionId === null ? (
        <span className="block truncate text-muted">{note}</span>
      ) : (
        <Link to="/executions/$id" params={{ id: executionId }} className="block truncate text-accent-text hover:underline">
          {note || executionId}
        </Link>
      ),
  },
  { title: COMMON.date, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

export const HistoryPage = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const kind = isKind(search.kind) ? search.kind : undefined;
  return (
    <Page
      title={HISTORY_PAGE.history}
      lead={HISTORY_PAGE.intro}
      actions={
        <>
          <Link to="/balance" className={buttonClasses("secondary", "md")}>
            {COMMON.balance}
          </Link>
          <DownloadButton path="/api/usage/summary?groupBy=day&format=csv" label={HISTORY_PAGE.dailySpendingCsv} />
        </>
      }
    >
      <Select
        aria-label={HISTORY_PAGE.type}
        className="mb-4 w-60!"
        value={kind ?? ""}
        onText={(text) => void navigate({ search: { kind: text || undefined } })}
        options={Object.entries(KINDS)}
      >
        <option value="">{HISTORY_PAGE.allTypes}</option>
      </Select>
      <Paged<LedgerRow>
        key={kind ?? ""}
        label={HISTORY_PAGE.transactions}
        queryKey={["my-ledger", kind ?? ""]}
        read={async (cursor, signal) => {
          const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }), ...(kind === undefined ? {} : { kind }) };
          return (await request("listMyLedger", { query, signal })).body;
        }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={kind === undefined ? HISTORY_PAGE.noTransactionsYet : HISTORY_PAGE.noneOfType}
      />
    </Page>
  );
};
