import type { Execution } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { History } from "lucide-react";
import { useState } from "react";
import { LoadFailure } from "../../app/error-pages";
import { executionsQuery, workflowsQuery } from "../../api/queries";
import { RunStatus } from "../../runs/status";
import { Button } from "../../ui/button";
import { Input, Select } from "../../ui/field";
import { creditNumber, duration } from "../../ui/format";
import { Empty, Skeleton } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";

const route = getRouteApi("/shell/executions");
const PAGE = 50;
const STATUSES = [
  ["processing", "Running"],
  ["completed", "Completed"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["cancel_requested", "Cancelling"],
] as const;
type Status = (typeof STATUSES)[number][0];
const isStatus = (text: string | undefined): text is Status => STATUSES.some(([status]) => status === text);

const SOURCES: Readonly<Record<string, string>> = { canvas: "console", "api-workflow": "API", "api-slim": "API, one model" };

const COLUMNS: readonly Column<Execution>[] = [
  {
    title: "Run of",
    cell: ({ executionId, workflowSlug, modelIds }) => (
      <Link to="/executions/$id" params={{ id: executionId }} className="block truncate font-medium text-accent-text hover:underline">
        {workflowSlug ?? modelIds[0] ?? executionId}
      </Link>
    ),
  },
  { title: "Status", cell: ({ status }) => <RunStatus status={status} /> },
  { title: "What went wrong", wide: true, cell: ({ error }) => <span className="block truncate text-bad">{error?.message}</span> },
  { title: "From", wide: true, cell: ({ source }) => SOURCES[source] ?? source },
  { title: "Took", numeric: true, cell: ({ durationMs }) => duration(durationMs) },
  { title: "Credits", numeric: true, cell: ({ creditsCost }) => creditNumber(creditsCost) },
  { title: "Started", numeric: true, cell: ({ createdAt }) => <Time iso={createdAt} /> },
];

const META = /^([^=]+)=(.*)$/s;
/** `name=value` of a run's metadata, as the list is asked for it. */
const metadataFilter = (given: string | undefined): Record<string, string> => {
  const [, name, value] = META.exec(given ?? "") ?? [];
  return name === undefined || value === undefined ? {} : { [`metadata.${name.trim()}`]: value.trim() };
};

const MetadataFilter = ({ given, set }: { given: string | undefined; set: (meta: string | undefined) => void }) => {
  const [typed, setTyped] = useState(given ?? "");
  const isWrong = typed !== "" && !META.test(typed);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) set(typed.trim() || undefined);
      }}
    >
      <Input
        aria-label="Metadata, as name=value"
        placeholder="metadata: name=value"
        className="w-56!"
        aria-invalid={isWrong || undefined}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => !isWrong && set(typed.trim() || undefined)}
      />
    </form>
  );
};

const Filters = ({ status, workflow, meta }: { status: string | undefined; workflow: string | undefined; meta: string | undefined }) => {
  const navigate = route.useNavigate();
  const workflows = useQuery(workflowsQuery);
  const set = (change: { status?: string | undefined; workflow?: string | undefined; meta?: string | undefined }): void =>
    void navigate({ search: (old) => ({ ...old, ...change, cursor: undefined }) });
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <Select
        aria-label="Status"
        className="w-44!"
        value={status ?? ""}
        onChange={(event) => set({ status: event.target.value || undefined })}
      >
        <option value="">Every status</option>
        {STATUSES.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </Select>
      <Select
        aria-label="Workflow"
        className="w-60!"
        value={workflow ?? ""}
        onChange={(event) => set({ workflow: event.target.value || undefined })}
      >
        <option value="">Every workflow</option>
        {workflow !== undefined && !workflows.data?.some(({ slug }) => slug === workflow) && <option>{workflow}</option>}
        {workflows.data?.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </Select>
      <MetadataFilter key={meta} given={meta} set={(given) => given !== meta && set({ meta: given })} />
    </div>
  );
};

export const ExecutionsPage = () => {
  const { status, workflow, meta, cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const runs = useQuery(
    executionsQuery({
      limit: PAGE,
      ...(isStatus(status) ? { status } : {}),
      ...(workflow === undefined ? {} : { workflowSlug: workflow }),
      ...(cursor === undefined ? {} : { cursor }),
      ...metadataFilter(meta),
    }),
  );
  const { data } = runs;
  return (
    <Page title="Runs" lead="Every run of your workflows and models, from here and by key.">
      <Filters status={status} workflow={workflow} meta={meta} />
      {runs.isPending && <Skeleton lines={8} />}
      {runs.isError && <LoadFailure error={runs.error} retry={() => void runs.refetch()} />}
      {data?.rows.length === 0 && (
        <Empty icon={History} title="No runs">
          {(status ?? workflow ?? meta ?? cursor) ? "None fits these filters." : "Open a workflow and press Run."}
        </Empty>
      )}
      {data && data.rows.length > 0 && (
        <>
          <Table label="Runs" columns={COLUMNS} rows={data.rows} keyOf={({ executionId }) => executionId} />
          <div className="mt-4 flex justify-end gap-2">
            {cursor !== undefined && (
              <Button onClick={() => void navigate({ search: (old) => ({ ...old, cursor: undefined }) })}>Newest</Button>
            )}
            <Button
              disabled={data.nextCursor === null}
              onClick={() => void navigate({ search: (old) => ({ ...old, cursor: data.nextCursor ?? undefined }) })}
            >
              Older
            </Button>
          </div>
        </>
      )}
    </Page>
  );
};
