import type { AuditRow } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client";
import { keyName } from "../../api/key-name";
import { membersQuery, namedKeysQuery } from "../../api/queries";
import { AuditOutcome } from "../../parts/audit-outcome";
import { Paged } from "../../parts/paged";
import type { Column } from "../../ui/table";
import { Input, Select } from "../../ui/inputs/field";
import { Time } from "../../ui/time";
import { DownloadButton } from "../../parts/download-button";
import { COMMON } from "../../messages/common";
import { AUDIT_TAB } from "../../messages/organizations";

const columnsOf = (nameOf: (id: string) => string, nameOfKey: (id: string, otherwise: string) => string): readonly Column<AuditRow>[] => [
  { title: AUDIT_TAB.action, cell: ({ action }) => <span className="font-medium">{action}</span> },
  {
    title: AUDIT_TAB.resource,
    wide: true,
    className: "max-w-44!",
    cell: ({ target }) => <span className="block truncate">{nameOf(target)}</span>,
  },
  {
    title: AUDIT_TAB.change,
    wide: true,
    className: "max-w-56!",
    cell: ({ change }) => change !== null && <code className="block truncate text-xs text-muted">{JSON.stringify(change)}</code>,
  },
  { title: AUDIT_TAB.outcome, wide: true, cell: (row) => <AuditOutcome row={row} /> },
  { title: AUDIT_TAB.address, wide: "widest", cell: ({ ip }) => ip },
  {
    title: AUDIT_TAB.user,
    cell: ({ actor, keyId, keyName: name }) => (
      <span className="block truncate">
        {nameOf(actor)}
        {keyId !== null && <span className="block truncate text-xs text-muted">{AUDIT_TAB.withKey(nameOfKey(keyId, name ?? keyId))}</span>}
      </span>
    ),
  },
  { title: COMMON.time, numeric: true, cell: ({ at }) => <Time iso={at} /> },
];

/** Beginnings of actions. */
const KINDS = [
  ["session.", AUDIT_TAB.signIns],
  ["request.refused", AUDIT_TAB.refused],
  ["member.", AUDIT_TAB.members],
  ["key.", AUDIT_TAB.keys],
  ["secret.", AUDIT_TAB.secrets],
  ["workflow.", AUDIT_TAB.workflows],
  ["execution.decide", AUDIT_TAB.decisions],
  ["webhook-endpoint.", AUDIT_TAB.endpoints],
] as const;

/** Sign-ins, changes and refused attempts, with filters. */
export const AuditTab = ({ id }: { id: string }) => {
  const members = useQuery(membersQuery(id));
  const keys = useQuery({ ...namedKeysQuery, retry: false }).data ?? [];
  const [action, setAction] = useState("");
  const [q, setQ] = useState("");
  const nameOf = (one: string): string => members.data?.find(({ userId }) => userId === one)?.email ?? keyName(keys, one, one);
  const filter = { ...(action === "" ? {} : { action }), ...(q.trim() === "" ? {} : { q: q.trim() }) };
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <div className="mb-4 flex flex-wrap gap-2">
        <Select aria-label={AUDIT_TAB.kind} className="w-44!" value={action} onText={setAction} options={KINDS}>
          <option value="">{AUDIT_TAB.everything}</option>
        </Select>
        <Input
          type="search"
          aria-label={AUDIT_TAB.search}
          placeholder={AUDIT_TAB.searchHint}
          className="min-w-48 flex-1"
          value={q}
          onText={setQ}
        />
        <DownloadButton path={`/api/organizations/${id}/audit/export?${new URLSearchParams(filter).toString()}`} label={AUDIT_TAB.csv} />
      </div>
      <Paged<AuditRow>
        key={JSON.stringify(filter)}
        label={AUDIT_TAB.auditLog}
        queryKey={["organizations", id, "audit", filter]}
        read={async (cursor, signal) => {
          const query = { limit: 50, ...filter, ...(cursor === undefined ? {} : { cursor }) };
          return (await request("listOrganizationAudit", { params: { id }, query, signal })).body;
        }}
        columns={columnsOf(nameOf, (keyId, otherwise) => keyName(keys, keyId, otherwise))}
        keyOf={(row) => row.id}
        empty={isFiltered ? AUDIT_TAB.noMatches : AUDIT_TAB.empty}
      />
    </>
  );
};
