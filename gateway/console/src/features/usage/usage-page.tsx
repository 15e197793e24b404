import type { UsageRow } from "@nodeloom/client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ChartColumn, Download } from "lucide-react";
import { LoadFailure } from "../../parts/error-pages";
import { api } from "../../api/client";
import { meQuery } from "../../api/queries";
import { usageModelsQuery, usageQuery, type UsageFilter } from "./queries";
import { useChange } from "../../api/use-change";
import { RunStatus } from "../../runs/status";
import { Button } from "../../ui/button";
import { Select } from "../../ui/inputs/field";
import { creditNumber, duration, usd, whole } from "../../ui/format";
import { Empty, Skeleton } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { BalanceCards } from "../../parts/balance-cards";
import { useWorkflowNames } from "../../parts/workflow-names";
import { csv } from "./csv";
import { Grouped } from "./grouped";
import { Summary } from "./summary";
import { COMMON } from "../../messages/common";
import { USAGE_PAGE } from "../../messages/usage";

const route = getRouteApi("/shell/usage");
const PAGE = 50;
const MOST_ROWS = 500;
const STATUSES = ["processing", "completed", "failed"] as const;
type Status = (typeof STATUSES)[number];
const isStatus = (text: string | undefined): text is Status => (STATUSES as readonly (string | undefined)[]).includes(text);

const CallOf = ({ row: { workflowSlug, modelIds, createdAt } }: { row: UsageRow }) => {
  const nameOf = useWorkflowNames();
  return (
    <>
      <span className="block truncate font-medium">{workflowSlug === null ? modelIds[0] : nameOf(workflowSlug)}</span>
      <span className="text-xs text-faint md:hidden">
        <Time iso={createdAt} />
      </span>
    </>
  );
};

const COLUMNS: readonly Column<UsageRow>[] = [
  { title: COMMON.workflow, className: "max-xl:max-w-40! max-md:max-w-32!", cell: (row) => <CallOf row={row} /> },
  {
    title: COMMON.status,
    cell: ({ status, errorCode }) => (
      <span className="flex items-center gap-2 max-md:flex-col max-md:items-start">
        <RunStatus status={status} />
        {errorCode !== null && <code className="truncate font-mono text-xs text-bad max-md:max-w-28">{errorCode}</code>}
      </span>
    ),
  },
  {
    title: COMMON.models,
    wide: true,
    className: "max-xl:max-w-40!",
    cell: ({ modelIds }) => <span className="block truncate text-muted">{modelIds.join(", ")}</span>,
  },
  { title: COMMON.duration, numeric: true, wide: "widest", cell: ({ durationMs }) => duration(durationMs) },
  { title: COMMON.credits, numeric: true, cell: ({ creditsCost }) => creditNumber(creditsCost) },
  { title: COMMON.price, numeric: true, wide: "widest", cell: ({ userCost }) => usd(userCost) },
  { title: COMMON.date, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

const save = (text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "usage.csv";
  link.click();
  URL.revokeObjectURL(url);
};

export const UsagePage = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: me } = useSuspenseQuery(meQuery);
  const models = useQuery(usageModelsQuery);
  const { busy, run } = useChange();
  const page = search.page ?? 1;
  const filter: UsageFilter = {
    ...(isStatus(search.status) ? { status: search.status } : {}),
    ...(search.model === undefined ? {} : { modelId: search.model }),
    ...(search.workflow === undefined ? {} : { workflowSlug: search.workflow }),
  };
  const usage = useQuery(usageQuery({ ...filter, limit: PAGE, offset: (page - 1) * PAGE }));
  const set = (change: { status?: string | undefined; model?: string | undefined }): void =>
    void navigate({ search: (old) => ({ ...old, ...change, page: undefined }) });
  const total = usage.data?.total ?? 0;
  return (
    <Page
      title={COMMON.usage}
      lead={USAGE_PAGE.subtitle}
      actions={
        <Button
          icon={Download}
          busy={busy}
          onClick={() => void run(async () => save(csv((await api.usage.list({ ...filter, limit: MOST_ROWS })).rows)))}
        >
          {USAGE_PAGE.csv}
        </Button>
      }
    >
      {me && <BalanceCards me={me} />}
      <Summary />
      <Grouped />
      <h2 className="mb-3 text-[15px] font-semibold">{USAGE_PAGE.apiCalls}</h2>
      <div className="mb-4 flex flex-wrap gap-2">
        <Select
          aria-label={COMMON.status}
          className="w-44!"
          value={search.status ?? ""}
          onText={(text) => set({ status: text || undefined })}
          options={STATUSES}
        >
          <option value="">{COMMON.everyStatus}</option>
        </Select>
        <Select
          aria-label={COMMON.model}
          className="w-56!"
          value={search.model ?? ""}
          onText={(text) => set({ model: text || undefined })}
          options={models.data}
        >
          <option value="">{USAGE_PAGE.allModels}</option>
        </Select>
      </div>
      {usage.isPending && <Skeleton lines={8} />}
      {usage.isError && <LoadFailure error={usage.error} retry={() => void usage.refetch()} />}
      {usage.data && total === 0 && (
        <Empty icon={ChartColumn} title={USAGE_PAGE.noApiCallsYet}>
          {USAGE_PAGE.noApiCallsHint}
        </Empty>
      )}
      {usage.data && total > 0 && usage.data.rows.length === 0 && (
        <Empty
          icon={ChartColumn}
          title={USAGE_PAGE.noMoreCalls}
          actions={<Button onClick={() => set({})}>{USAGE_PAGE.newestCalls}</Button>}
        />
      )}
      {usage.data && usage.data.rows.length > 0 && (
        <>
          <Table label={USAGE_PAGE.calls} columns={COLUMNS} rows={usage.data.rows} keyOf={({ id }) => String(id)} />
          <div className="mt-4 flex items-center justify-end gap-3 text-sm text-muted">
            <span className="tabular-nums">
              {USAGE_PAGE.of(whole((page - 1) * PAGE + 1), whole(Math.min(page * PAGE, total)), whole(total))}
            </span>
            <Button size="sm" disabled={page <= 1} onClick={() => void navigate({ search: (old) => ({ ...old, page: page - 1 }) })}>
              {USAGE_PAGE.newer}
            </Button>
            <Button
              size="sm"
              disabled={page * PAGE >= total}
              onClick={() => void navigate({ search: (old) => ({ ...old, page: page + 1 }) })}
            >
              {COMMON.older}
            </Button>
          </div>
        </>
      )}
    </Page>
  );
};
