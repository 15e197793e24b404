import { randomUUID } from "node:crypto";
import { identity } from "@nodeloom/proto";
import { newUser, refusal, useIdentity } from "./support";

const { AUDIT_OUTCOME_PENDING: PENDING, AUDIT_OUTCOME_DONE: DONE, AUDIT_OUTCOME_FAILED: FAILED } = identity.AuditOutcome;

const { client, deployment } = useIdentity();

const intent = (fields: Partial<identity.AuditRow> = {}): identity.AuditRow =>
  identity.AuditRow.fromPartial({
    id: randomUUID(),
    actorId: "admin",
    action: "user.update",
    target: "someone",
    changeJson: '{"tier":"pro"}',
    beforeJson: '{"tier":"free"}',
    outcome: PENDING,
    ...fields,
  });
const record = async (row: identity.AuditRow): Promise<identity.AuditRow> => (await client.recordAudit({ row })).row!;

describe("an audit row", () => {
  it("is pending until it is completed, and keeps its initial content", async () => {
    const row = intent();
    expect(await record(row)).toMatchObject({ ...row, at: expect.any(Date) as Date });
    const finalRow = await record({ ...row, outcome: DONE, beforeJson: "", afterJson: '{"tier":"pro"}' });
    expect(finalRow).toMatchObject({ outcome: DONE, beforeJson: '{"tier":"free"}', afterJson: '{"tier":"pro"}', errorCode: "" });
  });

  it("takes the state before from the write if the write has a newer one", async () => {
    const row = intent();
    await record(row);
    expect(await record({ ...row, outcome: DONE, beforeJson: '{"tier":"business"}' })).toMatchObject({ beforeJson: '{"tier":"business"}' });
  });

  it("never changes after it is completed, even by late or repeated requests", async () => {
    const row = intent();
    await record(row);
    const finalRow = await record({ ...row, outcome: FAILED, errorCode: "NOT_FOUND" });
    for (const late of [
      { outcome: DONE, afterJson: "{}" },
      { outcome: PENDING, actorId: "another" },
      { outcome: FAILED, errorCode: "INTERNAL" },
    ]) {
      expect(await record({ ...row, ...late })).toEqual(finalRow);
    }
  });

  it("is stored once if its start is sent twice at the same time", async () => {
    const row = intent();
    const stored = await Promise.all(Array.from({ length: 10 }, () => record(row)));
    expect(new Set(stored.map(({ at }) => at?.getTime())).size).toBe(1);
  });

  it("of an event that is over is written in one call, once", async () => {
    const event = intent({ outcome: FAILED, errorCode: "UNAUTHENTICATED", beforeJson: "", ownerId: "owner" });
    const stored = await Promise.all(Array.from({ length: 10 }, () => record(event)));
    expect(stored[0]).toMatchObject({ ...event, at: expect.any(Date) as Date });
    expect(new Set(stored.map(({ at }) => at?.getTime())).size).toBe(1);
    expect(await record({ ...event, outcome: PENDING })).toEqual(stored[0]);
  });

  it("must have a known form", async () => {
    const nameless = identity.AuditRow.fromPartial({ id: "a b" });
    expect(await refusal(record(nameless))).toMatchObject({
      metadata: { issues: ["actorId", "action", "target", "id", "outcome"].map((path) => expect.objectContaining({ path }) as object) },
    });
  });
});

describe("rows after their retention", () => {
  const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

  it("are removed; younger ones stay", async () => {
    const rows = deployment.database.collection<{ _id: string; at: Date }>("audit");
    const intents = [intent(), intent(), intent(), intent()];
    for (const row of intents) await record(row);
    const [oldest, old, young] = intents.map(({ id }) => id) as [string, string, string];
    // 25 months have 758 to 762 days.
    await rows.updateOne({ _id: oldest }, { $set: { at: daysAgo(900) } });
    await rows.updateOne({ _id: old }, { $set: { at: daysAgo(763) } });
    await rows.updateOne({ _id: young }, { $set: { at: daysAgo(757) } });
    const count = await rows.countDocuments();
    const first = await client.removeExpired({ cursor: "" });
    expect(first.removed).toEqual({ audit: 2 });
    expect(await rows.findOne({ _id: oldest })).toBeNull();
    expect(await client.removeExpired({ cursor: first.nextCursor })).toEqual({ removed: { audit: 0 }, nextCursor: "" });
    expect(await rows.countDocuments()).toBe(count - 2);
    expect(await rows.findOne({ _id: young })).not.toBeNull();
  });
});

describe("the audit list", () => {
  it("is newest first and read page by page without loss or repetition", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const row = intent();
      await record(row);
      ids.push(row.id);
    }
    const readIds: string[] = [];
    let cursor = "";
    do {
      const page = await client.listAudit({ limit: 3, cursor, filter: undefined });
      readIds.push(...page.rows.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== "");
    expect(new Set(readIds).size).toBe(readIds.length);
    const mine = readIds.filter((id) => ids.includes(id));
    expect([...mine].sort()).toEqual([...ids].sort());
    expect((await client.listAudit({ limit: 0, cursor: "", filter: undefined })).rows[0]?.at?.getTime()).toBeGreaterThan(0);
  });

  it("is filtered by action, actor, key, target, time and text, without loss between pages", async () => {
    const ownerId = randomUUID();
    const rows = deployment.database.collection<{ _id: string; at: Date }>("audit");
    const add = async (part: Partial<identity.AuditRow>, day: number): Promise<string> => {
      const row = intent({ ownerId, ip: "203.0.113.7", ...part });
      expect(await record(row)).toMatchObject({ ip: "203.0.113.7" });
      await rows.updateOne({ _id: row.id }, { $set: { at: new Date(Date.UTC(2030, 0, day)) } });
      return row.id;
    };
    const created = await add({ action: "key.create", keyId: "k1", target: "Deploy (a.b)" }, 1);
    const revoked = await add({ action: "key.revoke", actorId: "eve", changeJson: '{"why":"Leaked"}' }, 2);
    const other = await add({ action: "keyring.create" }, 3);
    const listed = async (filter: Partial<identity.AuditFilter>, limit = 50): Promise<string[]> => {
      const ids: string[] = [];
      let cursor = "";
      do {
        const page = await client.listAudit({ ownerId, limit, cursor, filter: identity.AuditFilter.fromPartial(filter) });
        ids.push(...page.rows.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor !== "");
      return ids;
    };
    expect(await listed({})).toEqual([other, revoked, created]);
    expect(await listed({ action: "key." }, 1)).toEqual([revoked, created]);
    expect(await listed({ action: "key" })).toEqual([]);
    expect(await listed({ action: "key.create" })).toEqual([created]);
    expect(await listed({ actorId: "eve" })).toEqual([revoked]);
    expect(await listed({ keyId: "k1" })).toEqual([created]);
    expect(await listed({ target: "Deploy (a.b)" })).toEqual([created]);
    expect(await listed({ from: new Date(Date.UTC(2030, 0, 2)), to: new Date(Date.UTC(2030, 0, 3)) })).toEqual([revoked]);
    expect(await listed({ text: "leaked" })).toEqual([revoked]);
    expect(await listed({ text: "(A.B)" })).toEqual([created]);
    expect(await listed({ text: "a.b.c" })).toEqual([]);
  });

  it.each([
    ["limit", { limit: 501, cursor: "" }],
    ["limit", { limit: -1, cursor: "" }],
    ["cursor", { limit: 1, cursor: "!" }],
  ])("rejects a wrong %s", async (path, request) => {
    expect(await refusal(client.listAudit({ ...request, filter: undefined }))).toMatchObject({ metadata: { issues: [{ path }] } });
  });
});

describe("rows for webhook endpoints", () => {
  const subscribe = async (ownerId: string, byOwner = true) =>
    (await client.createWebhookEndpoint({ ownerId, url: "https://example.com/hook", events: ["audit.row"], description: "", byOwner }))
      .endpoint!;
  const unannounced = async (ownerId: string) =>
    (await client.listUnannouncedAudit({ limit: 0 })).rows.filter((row) => row.ownerId === ownerId);

  it("are those that end while an enabled endpoint of their owner wants them, and each until it is announced", async () => {
    const [{ id: ownerId }, { id: other }] = [await newUser(client, { tier: "pro" }), await newUser(client, { tier: "pro" })];
    await record(intent({ ownerId, outcome: DONE }));
    const { id } = await subscribe(ownerId);
    const [first, second] = [intent({ ownerId }), intent({ ownerId, outcome: FAILED, errorCode: "UNAUTHENTICATED" })];
    await record(first);
    await record(intent({ ownerId: other, outcome: DONE }));
    expect(await unannounced(ownerId)).toEqual([]);
    await record(second);
    const finalRow = await record({ ...first, outcome: DONE });
    expect(await unannounced(ownerId)).toMatchObject([finalRow, { id: second.id, outcome: FAILED, errorCode: "UNAUTHENTICATED" }]);
    expect((await client.getAuditRow({ ownerId, id: first.id })).row).toEqual(finalRow);
    expect(await refusal(client.getAuditRow({ ownerId: other, id: first.id }))).toMatchObject({ reason: "NOT_FOUND" });
    await client.noteAnnouncedAudit({ ids: [first.id] });
    expect(await unannounced(ownerId)).toMatchObject([{ id: second.id }]);
    await client.updateWebhookEndpoint({ endpoint: { ownerId, id }, events: undefined, disabled: true, byOwner: true });
    await record(intent({ ownerId, outcome: DONE }));
    expect(await unannounced(ownerId)).toHaveLength(1);
  });

  it("go only where an owner sends them: others can neither subscribe an endpoint, nor change or delete it", async () => {
    const { id: ownerId } = await newUser(client, { tier: "pro" });
    const denied = { reason: "CAPABILITY_DENIED", metadata: { requiredRole: "owner" } };
    expect(await refusal(subscribe(ownerId, false))).toMatchObject(denied);
    const endpoint = { ownerId, id: (await subscribe(ownerId)).id };
    for (const refused of [
      client.updateWebhookEndpoint({ endpoint, events: undefined, url: "https://example.org/elsewhere" }),
      client.updateWebhookEndpoint({ endpoint, events: { events: ["execution.failed"] } }),
      client.rotateWebhookEndpointSecret({ endpoint }),
      client.deleteWebhookEndpoint({ endpoint }),
    ])
      expect(await refusal(refused)).toMatchObject(denied);
    await client.deleteWebhookEndpoint({ endpoint, byOwner: true });
  });
});
