/** Passes new rows of audit logs from identity to webhook endpoints. Messages make no rows, so that none can cause another. */
import { AUDIT_EVENT } from "@nodeloom/kernel";
import type { RelayedRows } from "@nodeloom/platform";
import type { identity as identityProto } from "@nodeloom/proto";
import type { Identity } from "./clients";
import type { Endpoints } from "./webhooks/endpoints";

/** Rows that are acknowledged together. */
const GROUP = "rows";

export interface RelayedAuditOptions {
  identity: Pick<Identity, "listUnannouncedAudit" | "noteAnnouncedAudit">;
  endpoints: Pick<Endpoints, "add">;
}

/** Acknowledges rows after their deliveries are accepted. A delivery that is accepted twice is sent once. */
export const createRelayedAudit = ({ identity, endpoints }: RelayedAuditOptions): RelayedRows<identityProto.AuditRow> => ({
  name: "audit rows",
  page: async (limit, after) => (after ? [] : (await identity.listUnannouncedAudit({ limit })).rows),
  signatureOf: ({ id }) => id,
  groupOf: () => GROUP,
  staleMs: 0,
  settle: async (rows) => {
    for (const { id, ownerId } of rows)
      await endpoints.add({ _id: `audit ${id}`, ownerId, event: AUDIT_EVENT, about: { kind: "auditRow", rowId: id } });
    await identity.noteAnnouncedAudit({ ids: rows.map(({ id }) => id) });
    return true;
  },
});
