import type { ExecutionsQuery } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { workflowsQuery } from "../../api/queries";
import { Input, Select } from "../../ui/inputs/field";
import { COMMON } from "../../messages/common";
import { FILTERS } from "../../messages/executions";

const route = getRouteApi("/shell/executions");
const STATUSES = [
  ["processing", COMMON.running],
  ["completed", COMMON.completed],
  ["failed", COMMON.failed],
  ["cancelled", COMMON.cancelled],
  ["cancel_requested", COMMON.cancelling],
] as const;
type Status = (typeof STATUSES)[number][0];
const isStatus = (text: string | undefined): text is Status => STATUSES.some(([status]) => status === text);

/** Filters of the list, from the page's address. Days are in the browser's time zone, and both are included. */
export interface RunsSearch {
  status?: string | undefined;
  workflow?: string | undefined;
  meta?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const META = /^([^=]+)=(.*)$/s;
/** `name=value` as a metadata filter. */
const metadataFilter = (filterText: string | undefined): Record<string, string> => {
  const [, name, value] = META.exec(filterText ?? "") ?? [];
  return name === undefined || value === undefined ? {} : { [`metadata.${name.trim()}`]: value.trim() };
};

/** Start of a day in the browser's time zone, or of a later day. */
const beginOf = (day: string, after = 0): string => {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year!, month! - 1, date! + after).toISOString();
};

export const filterOf = ({ status, workflow, meta, from, to }: RunsSearch): ExecutionsQuery => ({
  ...(isStatus(status) ? { status } : {}),
  ...(workflow === undefined ? {} : { workflowSlug: workflow }),
  ...(from === undefined ? {} : { createdAfter: beginOf(from) }),
  ...(to === undefined ? {} : { createdBefore: beginOf(to, 1) }),
  ...metadataFilter(meta),
});

const MetadataFilter = ({ initial, set }: { initial: string | undefined; set: (meta: string | undefined) => void }) => {
  const [typed, setTyped] = useState(initial ?? "");
  const isWrong = typed !== "" && !META.test(typed);
  return (
    <form
      className="max-sm:col-span-2 min-w-40 flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) set(typed.trim() || undefined);
      }}
    >
      <Input
        aria-label={FILTERS.metadataNameValue}
        placeholder="metadata: name=value"
        aria-invalid={isWrong || undefined}
        value={typed}
        onText={setTyped}
        onBlur={() => !isWrong && set(typed.trim() || undefined)}
      />
    </form>
  );
};

interface DayProps {
  label: string;
  title: string;
  value: string | undefined;
  set: (day: string | undefined) => void;
}

const DayFilter = ({ label, title, value, set }: DayProps) => (
  <label className="flex items-center gap-1.5 text-[13px] text-muted max-sm:flex-col max-sm:items-start max-sm:gap-1">
    <span className="sm:hidden">{title}</span>
    <Input
      type="date"
      aria-label={label}
      title={label}
      className="sm:w-31!"
      // Uncontrolled, because a partly typed day is invalid.
      defaultValue={value ?? ""}
      onChange={({ target }) => (target.value !== "" || target.validity.valid) && set(target.value || undefined)}
    />
  </label>
);

export const Filters = ({ status, workflow, meta, from, to }: RunsSearch) => {
  const navigate = route.useNavigate();
  const workflows = useQuery(workflowsQuery);
  const set = (change: RunsSearch): void => void navigate({ search: (old) => ({ ...old, ...change, cursor: undefined }) });
  return (
    <div className="mb-4 flex flex-wrap gap-2 max-sm:grid max-sm:grid-cols-2">
      <Select
        aria-label={COMMON.status}
        className="sm:w-32!"
        value={status ?? ""}
        onText={(text) => set({ status: text || undefined })}
        options={STATUSES}
      >
        <option value="">{COMMON.everyStatus}</option>
      </Select>
      <Select
        aria-label={COMMON.workflow}
        className="min-w-28 max-w-60 flex-1"
        value={workflow ?? ""}
        onText={(text) => set({ workflow: text || undefined })}
        options={(workflows.data ?? []).map(({ slug, name }) => [slug, name])}
      >
        <option value="">{FILTERS.allWorkflows}</option>
        {workflow !== undefined && !workflows.data?.some(({ slug }) => slug === workflow) && <option>{workflow}</option>}
      </Select>
      {/* In one row beside the others, also in a small window. */}
      <div className="contents items-center gap-1.5 sm:flex">
        <DayFilter label={FILTERS.fromDate} title={FILTERS.from} value={from} set={(day) => set({ from: day })} />
        <span className="text-faint max-sm:hidden" aria-hidden>
          –
        </span>
        <DayFilter label={FILTERS.toDate} title={FILTERS.to} value={to} set={(day) => set({ to: day })} />
      </div>
      <MetadataFilter key={meta} initial={meta} set={(filterText) => filterText !== meta && set({ meta: filterText })} />
    </div>
  );
};
