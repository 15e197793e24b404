import type { AuditRow } from "@nodeloom/client";
import { request } from "../../api/client";
import { Badge } from "../../ui/badge";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { Paged } from "../../app/paged";

const TONES = { done: "ok", failed: "bad", pending: "warn" } as const;

const COLUMNS: readonly Column<AuditRow>[] = [
  {
    title: "What",
    cell: ({ action, target }) => (
      <>
        <span className="font-medium">{action}</span>
        {/* Where there is no room for a column of its own. */}
        <code className="block w-24 truncate font-mono text-xs md:hidden">{target}</code>
      </>
    ),
  },
  { title: "Of", wide: true, cell: ({ target }) => <code className="block truncate font-mono text-xs">{target}</code> },
  {
    title: "Change",
    wide: true,
    cell: ({ change, before, after }) => (
      <details>
        <summary className="block truncate text-muted">{JSON.stringify(change)}</summary>
        <pre className="mt-1 max-h-48 overflow-auto rounded-lg bg-sunken p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
          {JSON.stringify({ before, after }, undefined, 2)}
        </pre>
      </details>
    ),
  },
  { title: "Outcome", cell: ({ outcome, errorCode }) => <Badge tone={TONES[outcome]}>{errorCode ?? outcome}</Badge> },
  {
    title: "By",
    wide: true,
    cell: ({ actor, keyId }) => (
      <code className="block truncate font-mono text-xs" title={keyId === null ? "by session" : `by key ${keyId}`}>
        {actor}
      </code>
    ),
  },
  { title: "When", numeric: true, cell: ({ at }) => <Time iso={at} /> },
];

export const AuditSection = () => (
  <Paged<AuditRow>
    label="Audit"
    queryKey={["admin-audit"]}
    read={async (cursor, signal) =>
      (await request("adminListAudit", { query: { limit: 50, ...(cursor === undefined ? {} : { cursor }) }, signal })).body
    }
    columns={COLUMNS}
    keyOf={({ id }) => id}
    empty="No administrator has changed anything yet."
  />
);
