import type { AuditRow } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { request } from "../../api/client";
import { membersQuery } from "../../api/queries";
import { AuditOutcome } from "../../parts/audit-outcome";
import { Paged } from "../../parts/paged";
import type { Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { COMMON } from "../../messages/common";
import { AUDIT_TAB } from "../../messages/organizations";

const columnsOf = (nameOf: (id: string) => string): readonly Column<AuditRow>[] => [
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
  { title: AUDIT_TAB.user, cell: ({ actor }) => <span className="block truncate">{nameOf(actor)}</span> },
  { title: COMMON.time, numeric: true, cell: ({ at }) => <Time iso={at} /> },
];

/** Changes of members, keys, secrets, budgets and published versions. */
export const AuditTab = ({ id }: { id: string }) => {
  const members = useQuery(membersQuery(id));
  const nameOf = (one: string): string => members.data?.find(({ userId }) => userId === one)?.email ?? one;
  return (
    <Paged<AuditRow>
      label={AUDIT_TAB.auditLog}
      queryKey={["organizations", id, "audit"]}
      read={async (cursor, signal) => {
        const query = { limit: 50, ...(cursor === undefined ? {} : { cursor }) };
        return (await request("listOrganizationAudit", { params: { id }, query, signal })).body;
      }}
      columns={columnsOf(nameOf)}
      keyOf={(row) => row.id}
      empty={AUDIT_TAB.empty}
    />
  );
};
