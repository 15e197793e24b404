import type { AdminExecution } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { RunStatus, statusWords } from "../../runs/status";
import { TemporalLink } from "../../runs/temporal-link";
import { Select } from "../../ui/inputs/field";
import { creditNumber, duration } from "../../ui/format";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { Paged } from "../../parts/paged";
import { CopyButton } from "../../ui/copy";
import { AccountName } from "./account-name";
import { COMMON } from "../../messages/common";
import { RUNS } from "../../messages/admin";

const STATUSES = ["processing", "completed", "failed", "cancelled", "cancel_requested"] as const;

const COLUMNS: readonly Column<AdminExecution>[] = [
  {
    title: RUNS.run,
    className: "max-w-56! max-xl:max-w-40! max-md:max-w-32!",
    cell: ({ executionId, workflowSlug, modelIds }) => (
      <span className="flex min-w-0 flex-wrap items-center gap-x-2 text-xs">
        <span className="min-w-0 truncate text-sm font-medium" title={workflowSlug ?? modelIds[0]}>
          {workflowSlug ?? modelIds[0]}
        </span>
        <CopyButton compact text={executionId} label={RUNS.copyRunId} />
        <TemporalLink executionId={executionId} />
      </span>
    ),
  },
  {
    title: COMMON.status,
    cell: ({ status, error }) => (
      <>
        <RunStatus status={status} />
        {/* Where there is no room for a column of its own. */}
        <span className="mt-0.5 block max-w-40 truncate text-xs text-bad max-md:max-w-24 xl:hidden">{error?.message}</span>
      </>
    ),
  },
  { title: COMMON.account, wide: true, className: "max-w-44!", cell: ({ userId }) => <AccountName id={userId} /> },
  {
    title: COMMON.error,
    wide: "widest",
    className: "max-w-44!",
    cell: ({ error }) => (
      <span className="block truncate text-bad" title={error?.message}>
        {error?.message}
      </span>
    ),
  },
  { title: COMMON.duration, numeric: true, wide: "widest", cell: ({ durationMs }) => duration(durationMs) },
  { title: COMMON.credits, numeric: true, cell: ({ creditsCost }) => creditNumber(creditsCost) },
  { title: COMMON.started, numeric: true, wide: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

export const RunsSection = () => {
  const [status, setStatus] = useState("");
  const chosenStatus = STATUSES.find((one) => one === status);
  return (
    <>
      <Select
        aria-label={COMMON.status}
        className="mb-4 w-44!"
        value={status}
        onText={setStatus}
        options={STATUSES.map((one) => [one, statusWords(one)])}
      >
        <option value="">{COMMON.everyStatus}</option>
      </Select>
      <Paged<AdminExecution>
        key={status}
        label={RUNS.runsOfAllAccounts}
        queryKey={["admin-executions", status]}
        read={async (cursor, signal) =>
          (
            await request("adminListExecutions", {
              query: { limit: 50, ...(chosenStatus ? { status: chosenStatus } : {}), ...(cursor === undefined ? {} : { cursor }) },
              signal,
            })
          ).body
        }
        columns={COLUMNS}
        keyOf={({ executionId }) => executionId}
        empty={RUNS.noMatchingRuns}
      />
    </>
  );
};
