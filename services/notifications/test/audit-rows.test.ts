import { DomainError } from "@nodeloom/kernel";
import { identity } from "@nodeloom/proto";
import { createRelayedAudit } from "../src/audit-rows";
import { createReadMessage } from "../src/webhooks/body";
import type { EndpointMessage } from "../src/webhooks/endpoints";

const at = new Date("2030-01-01T00:00:00.000Z");
const row = (part: Partial<identity.AuditRow> = {}): identity.AuditRow =>
  identity.AuditRow.fromPartial({
    ...{ id: "row-1", ownerId: "u", actorId: "ada", action: "key.revoke", target: "k", changeJson: '{"why":"leaked"}', at },
    ...{ outcome: identity.AuditOutcome.AUDIT_OUTCOME_DONE, ...part },
  });

const relayOf = (rows: identity.AuditRow[], add: (message: EndpointMessage) => Promise<void>) => {
  const announced: string[] = [];
  const relay = createRelayedAudit({
    identity: {
      listUnannouncedAudit: () => Promise.resolve({ rows }),
      noteAnnouncedAudit: ({ ids }: { ids: string[] }) => Promise.resolve(void announced.push(...ids)),
    } as never,
    endpoints: { add },
  });
  return { announced, relay };
};

it("announces new rows of the audit log, and notes them only after every message is accepted", async () => {
  const messages: EndpointMessage[] = [];
  const { announced, relay } = relayOf([row(), row({ id: "row-2" })], (message) => Promise.resolve(void messages.push(message)));
  const rows = await relay.page(500, undefined);
  expect(await relay.page(500, rows.at(-1))).toEqual([]);
  await relay.settle(rows);
  expect(messages.map(({ _id, ownerId, event, about }) => [_id, ownerId, event, about])).toEqual([
    ["audit row-1", "u", "audit.row", { kind: "auditRow", rowId: "row-1" }],
    ["audit row-2", "u", "audit.row", { kind: "auditRow", rowId: "row-2" }],
  ]);
  expect(announced).toEqual(["row-1", "row-2"]);
  const failing = relayOf(rows, () => Promise.reject(new Error("the database is gone")));
  await expect(failing.relay.settle(rows)).rejects.toThrow("gone");
  expect(failing.announced).toEqual([]);
});

it("sends a row as the log shows it at the attempt, and nothing once the row is removed", async () => {
  const about = { kind: "auditRow" as const, rowId: "row-1" };
  const keys = [identity.Key.fromPartial({ id: "key-1", name: "deploys" })];
  const read = (getAuditRow: () => Promise<{ row: identity.AuditRow }>) =>
    createReadMessage({ executions: {} as never, identity: { getAuditRow, listKeys: () => Promise.resolve({ keys }) } })({
      ...{ about, event: "audit.row", endpointId: "e", ownerId: "u" },
    });
  expect(await read(() => Promise.resolve({ row: row({ changeJson: "" }) }))).toEqual({
    ...{ id: "msg_audit_row-1", type: "audit.row", timestamp: at },
    data: {
      ...{ id: "row-1", actor: "ada", keyId: null, action: "key.revoke", target: "k", change: null, before: null, after: null },
      ...{ outcome: "done", errorCode: null, requestId: "", ip: null, at: at.toISOString(), keyName: null },
    },
  });
  expect(await read(() => Promise.resolve({ row: row({ keyId: "key-1" }) }))).toMatchObject({
    data: { keyId: "key-1", keyName: "deploys" },
  });
  const removed = () => Promise.reject(new DomainError("not_found", "NOT_FOUND", "no such audit row"));
  expect(await read(removed)).toBeUndefined();
});
