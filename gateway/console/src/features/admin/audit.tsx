import type { AuditRow } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { Input, Select } from "../../ui/inputs/field";
import { startOfDay } from "../../ui/inputs/typed";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { AuditOutcome } from "../../parts/audit-outcome";
import { DownloadButton } from "../../parts/download-button";
import { Paged } from "../../parts/paged";
import { AccountName } from "./account-name";
import { COMMON } from "../../messages/common";
import { AUDIT } from "../../messages/admin";

/** Beginnings of administrators' actions. */
const SUBJECTS = [
  ["user.", AUDIT.accounts],
  ["user.credit", COMMON.credits],
  ["organization.", AUDIT.organizations],
  ["model.", COMMON.models],
  ["model-server.", AUDIT.servers],
  ["provider-key.", AUDIT.providerKeys],
  ["template.", COMMON.templates],
  ["tier.", COMMON.plans],
  ["audit.", AUDIT.auditLog],
] as const;

const PAGE = 50;
const ACCOUNT_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const EMPTY = { action: "", actor: "", target: "", from: "", to: "", q: "" };

/** What the service filters by. The last day is included. */
const queryOf = ({ from, to, ...texts }: typeof EMPTY): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text.trim() === "" ? [] : [[name, text.trim()]]))),
  ...(from === "" ? {} : { from: startOfDay(from) }),
  ...(to === "" ? {} : { to: startOfDay(to, 1) }),
});

const Target = ({ target }: { target: string }) =>
  ACCOUNT_ID.test(target) ? <AccountName id={target} /> : <span className="block truncate">{target}</span>;

const COLUMNS: readonly Column<AuditRow>[] = [
  {
    title: AUDIT.action,
    cell: ({ action, target }) => (
      <>
        <span className="font-medium">{action}</span>
        {/* Where there is no room for a column of its own. */}
        <span className="block w-28 text-xs md:hidden">
          <Target target={target} />
        </span>
      </>
    ),
  },
  { title: AUDIT.resource, wide: true, className: "max-xl:max-w-48!", cell: ({ target }) => <Target target={target} /> },
  {
    title: AUDIT.change,
    wide: "widest",
    cell: ({ change, before, after }) => (
      <details>
        <summary className="block truncate text-muted">{JSON.stringify(change)}</summary>
        <pre className="mt-1 max-h-48 overflow-auto rounded-lg bg-sunken p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
          {JSON.stringify({ before, after }, undefined, 2)}
        </pre>
      </details>
    ),
  },
  { title: AUDIT.outcome, cell: (row) => <AuditOutcome row={row} /> },
  {
    title: AUDIT.user,
    wide: true,
    className: "max-xl:max-w-40!",
    cell: ({ actor, keyId, keyName }) => (
      <AccountName id={actor} title={keyId === null ? AUDIT.inTheConsole : AUDIT.withKey(keyName ?? keyId)} />
    ),
  },
  { title: COMMON.time, numeric: true, cell: ({ at }) => <Time iso={at} /> },
];

/** Changes by administrators, with filters. */
export const AuditSection = () => {
  const [fields, setFields] = useState(EMPTY);
  const set = (change: Partial<typeof EMPTY>): void => setFields({ ...fields, ...change });
  const filter = queryOf(fields);
  return (
    <>
      <div className="mb-4 flex flex-wrap gap-2">
        <Select aria-label={AUDIT.category} className="w-40!" value={fields.action} onText={(action) => set({ action })} options={SUBJECTS}>
          <option value="">{AUDIT.allCategories}</option>
        </Select>
        <Input
          type="search"
          aria-label={AUDIT.searchTheAuditLog}
          placeholder={AUDIT.modelSlugOrChange}
          className="min-w-40 flex-1"
          value={fields.q}
          onText={(q) => set({ q })}
        />
        <Input
          aria-label={AUDIT.userId}
          placeholder={AUDIT.userId}
          className="w-32!"
          value={fields.actor}
          onText={(actor) => set({ actor })}
        />
        <Input
          aria-label={AUDIT.resourceId}
          placeholder={AUDIT.resourceId}
          className="w-32!"
          value={fields.target}
          onText={(target) => set({ target })}
        />
        <Input type="date" aria-label={AUDIT.from} className="w-36!" value={fields.from} onText={(from) => set({ from })} />
        <Input type="date" aria-label={AUDIT.to} className="w-36!" value={fields.to} onText={(to) => set({ to })} />
        <DownloadButton path={`/api/admin/audit/export?${new URLSearchParams(filter).toString()}`} label={AUDIT.csv} />
      </div>
      <Paged<AuditRow>
        key={JSON.stringify(filter)}
        label={AUDIT.auditLog}
        queryKey={["admin-audit", filter]}
        read={async (cursor, signal) => {
          const query = { limit: PAGE, ...filter, ...(cursor === undefined ? {} : { cursor }) };
          return (await request("adminListAudit", { query, signal })).body;
        }}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={Object.keys(filter).length > 0 ? AUDIT.noMatches : AUDIT.empty}
      />
    </>
  );
};
