import type { KeyRequest } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../api/client";
import { keyName } from "../../api/key-name";
import { namedKeysQuery } from "../../api/queries";
import { Loading, NotThere } from "../../parts/error-pages";
import { Paged } from "../../parts/paged";
import { Badge } from "../../ui/badge";
import { duration } from "../../ui/format";
import { Select } from "../../ui/inputs/field";
import { Page } from "../../ui/page";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { COMMON } from "../../messages/common";
import { KEY_PAGE } from "../../messages/keys";

const route = getRouteApi("/shell/keys/$id");

const FIRST_ERROR = 400;
const FIRST_SERVER_ERROR = 500;
const PAGE_ROWS = 50;

const STATUSES = [
  ["", KEY_PAGE.allStatuses],
  ["2xx", KEY_PAGE.successes],
  ["4xx", KEY_PAGE.clientErrors],
  ["5xx", KEY_PAGE.serverErrors],
] as const;

const toneOf = (status: number): "ok" | "warn" | "bad" => {
  if (status < FIRST_ERROR) return "ok";
  return status < FIRST_SERVER_ERROR ? "warn" : "bad";
};

const columns: readonly Column<KeyRequest>[] = [
  {
    title: KEY_PAGE.request,
    cell: ({ method, route: template, executionId }) => (
      <span className="block min-w-0 text-xs">
        <code className="block font-mono wrap-anywhere">
          {method} {template}
        </code>
        {executionId !== null && (
          <Link to="/executions/$id" params={{ id: executionId }} className="mt-0.5 block text-accent-text hover:underline">
            {KEY_PAGE.run}
          </Link>
        )}
      </span>
    ),
  },
  {
    title: COMMON.status,
    cell: ({ status, errorCode }) => (
      <span className="block min-w-0">
        <Badge tone={toneOf(status)}>{status}</Badge>
        {errorCode !== null && <span className="mt-0.5 block text-xs text-muted wrap-anywhere">{errorCode}</span>}
      </span>
    ),
  },
  { title: KEY_PAGE.duration, numeric: true, wide: true, cell: ({ durationMs }) => duration(durationMs) },
  { title: KEY_PAGE.address, wide: true, cell: ({ ip }) => ip },
  {
    title: KEY_PAGE.requestId,
    wide: "widest",
    cell: ({ requestId }) => <code className="block truncate font-mono text-xs text-muted">{requestId}</code>,
  },
  { title: COMMON.time, numeric: true, cell: ({ at }) => (at === null ? null : <Time iso={at} />) },
];

/** The latest requests by a key. */
export const KeyPage = () => {
  const { id } = route.useParams();
  const keys = useQuery(namedKeysQuery);
  const [status, setStatus] = useState("");
  if (keys.isPending) return <Loading />;
  if (!keys.data?.some((key) => key.id === id))
    return (
      <NotThere
        error={keys.error}
        retry={() => void keys.refetch()}
        title={KEY_PAGE.notFound}
        list={{ to: "/keys", title: KEY_PAGE.goToKeys }}
      >
        {KEY_PAGE.notFoundHint}
      </NotThere>
    );
  return (
    <Page title={keyName(keys.data, id, id)} lead={KEY_PAGE.intro}>
      <Select aria-label={COMMON.status} className="mb-4 w-44!" value={status} onText={setStatus} options={STATUSES} />
      <Paged<KeyRequest>
        key={status}
        label={KEY_PAGE.requests}
        queryKey={["keys", id, "requests", status]}
        read={async (cursor, signal) => {
          const query = { limit: PAGE_ROWS, ...(status === "" ? {} : { status }), ...(cursor === undefined ? {} : { cursor }) };
          return (await request("listKeyRequests", { params: { id }, query, signal })).body;
        }}
        columns={columns}
        keyOf={({ requestId, at }) => `${requestId} ${at ?? ""}`}
        empty={status === "" ? KEY_PAGE.none : KEY_PAGE.noMatches}
      />
    </Page>
  );
};
