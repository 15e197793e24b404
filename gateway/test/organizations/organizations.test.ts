import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { unavailable } from "@nodeloom/kernel";
import { serverStream, unary } from "@nodeloom/platform";
import { executions, mail } from "@nodeloom/proto";
import { eventually } from "../../../services/platform/test/support/eventually";
import { startFakeService, type FakeService } from "../support/fake-service";
import { startPlatform, type Platform, type User } from "../support/platform";
import { executionOf, gather, invite, join, makeKey, makeOrganization, memberOf, type Cast } from "./cast";
import { checkManagement, checkTenancy, unknownRoutes } from "./tenancy";

const runs = new Map<string, string>();
let cancelled: string[] = [];
let mailed: mail.SendMailRequest[] = [];
/** Mails that are not taken yet, as if executions died with them. */
let untaken = 0;
let cast: Cast | undefined;
let fake: FakeService;
let platform: Platform;

const owned = ({ executionId, userId }: { executionId: string; userId: string }) =>
  runs.get(executionId) === userId
    ? executions.Execution.fromPartial({ executionId, userId, status: "processing", createdAt: new Date(0) })
    : undefined;

beforeAll(async () => {
  const mailService = {
    sendMail: unary<mail.SendMailRequest, mail.SendMailResponse>((request) => {
      if (request.mail?.$case !== "invitation") return Promise.resolve({});
      untaken -= 1;
      if (untaken >= 0) throw unavailable("executions is away");
      mailed.push(request);
      return Promise.resolve({});
    }),
  };
  const handlers = {
    getExecution: unary<executions.GetExecutionRequest, executions.GetExecutionResponse>((request) =>
      Promise.resolve({ execution: owned(request) }),
    ),
    listExecutions: unary<executions.ListExecutionsRequest, executions.ListExecutionsResponse>(({ userId }) =>
      Promise.resolve({ executions: userId === cast?.id ? [executionOf(cast)] : [], nextCursor: "" }),
    ),
    cancelExecution: unary<executions.CancelExecutionRequest, executions.CancelExecutionResponse>(({ executionId }) => {
      cancelled.push(executionId);
      return Promise.resolve({ status: "cancel_requested" });
    }),
    // Begins, and goes on for as long as somebody listens; what the table asks for ends at once.
    watchExecution: serverStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>(async function* (
      { executionId },
      signal,
    ) {
      yield executions.WatchExecutionResponse.fromPartial({ sequence: 1, type: "started", at: new Date(0), dataJson: "{}" });
      if (executionId === cast?.owned.executionId) return;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    }),
  };
  fake = await startFakeService(executions.ExecutionsServiceService, handlers, {
    definition: mail.MailServiceService,
    handlers: mailService,
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address });
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
});
beforeEach(() => {
  [cancelled, mailed, untaken] = [[], [], 0];
});

const stop = (owner: User, id: string, member: User): Promise<unknown> =>
  platform.send(`/api/organizations/${id}/members/${member.id}`, { method: "DELETE", headers: platform.bySession(owner) });

it("lets members share workflows, keys and credits, and keeps people's own apart", async () => {
  const owner = await platform.createUser({ tier: "business" });
  const id = await makeOrganization(platform, owner);
  const editor = await join(platform, owner, id, "editor");
  const headers = memberOf(platform, editor, id);
  const saved = await platform.send("/api/workflows", { json: { name: "Shared poster" }, headers });
  const slugs = async (sent: Record<string, string>) =>
    ((await platform.send("/api/workflows", { headers: sent })).body as unknown as { slug: string }[]).map(({ slug }) => slug);
  expect(await slugs(memberOf(platform, owner, id))).toContain(saved.body.slug);
  expect(await slugs(platform.bySession(owner))).not.toContain(saved.body.slug);
  expect(await slugs(platform.bySession(editor))).not.toContain(saved.body.slug);

  const { key } = await makeKey(platform, editor, id);
  const whoami = await platform.send("/api/whoami", { headers: { "x-api-key": key } });
  const organization = { id, name: "Loom Works", role: "editor" };
  expect(whoami.body).toMatchObject({ user: { id: editor.id, email: editor.email, tier: "business" }, organization });
  expect((await platform.send("/api/whoami", { headers: platform.bySession(editor) })).body).toEqual({
    user: expect.objectContaining({ id: editor.id, tier: "free" }) as unknown,
  });

  const credit = { json: { kind: "topup", amount: 40, note: "Invoice" }, headers: platform.bySession(platform.admin) };
  expect((await platform.send(`/api/admin/organizations/${id}/credits`, credit)).body).toMatchObject({ credits: { plan: 0, topUp: 40 } });
  expect((await platform.send("/api/me", { headers })).body).toMatchObject({
    user: { id: editor.id },
    credits: { topUp: 40 },
    organization,
  });
  expect((await platform.send("/api/me", { headers: platform.bySession(owner) })).body).toMatchObject({ credits: { topUp: 0 } });
  expect((await platform.send(`/api/admin/users/${id}`, { headers: platform.bySession(platform.admin) })).status).toBe(404);
});

it("ends the streams and polls of a member whose role is taken away, and not the run", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const runner = await join(platform, owner, id, "runner");
  const executionId = randomUUID();
  runs.set(executionId, id);
  const headers = memberOf(platform, runner, id);
  const poll = () => platform.send(`/api/executions/${executionId}`, { headers });
  expect((await poll()).body).toMatchObject({ status: "processing" });

  const ended = new Promise<string>((resolve, reject) => {
    httpRequest(`${platform.baseUrl}/api/executions/${executionId}/events`, { headers, agent: false })
      .on("error", reject)
      .on("response", (incoming) => {
        let text = "";
        incoming.on("data", (chunk: Buffer) => {
          if (text === "") void stop(owner, id, runner);
          text += chunk.toString();
        });
        incoming.on("end", () => resolve(text)).on("error", reject);
      })
      .end();
  });
  expect(await ended).toContain("event: started");
  expect((await poll()).status).toBe(404);
  expect((await platform.send(`/api/executions/${executionId}/events`, { headers })).status).toBe(404);
  expect(cancelled).toEqual([]);
  const { body } = await platform.send(`/api/executions/${executionId}`, { headers: memberOf(platform, owner, id) });
  expect(body).toMatchObject({ status: "processing" });
});

it("ends the keys of who leaves, at every gateway", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const editor = await join(platform, owner, id, "editor");
  const { key } = await makeKey(platform, editor, id);
  const use = () => platform.send("/api/workflows", { headers: { "x-api-key": key } });
  expect((await use()).status).toBe(200);
  await stop(editor, id, editor);
  await eventually(async () => (await use()).status === 401);
  expect((await platform.send("/api/keys", { headers: memberOf(platform, owner, id) })).body).toEqual([]);
});

it("has the link of an invitation mailed to the address that it names, and of no other", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  await invite(platform, owner, id, "viewer");
  const sent = { json: { role: "viewer", email: "grace@example.com" }, headers: platform.bySession(owner) };
  const { body } = await platform.send(`/api/organizations/${id}/invitations`, sent);
  await eventually(() => Promise.resolve(mailed.length > 0));
  const value = { organizationName: "Loom Works", inviterName: owner.email, link: body.link, userId: owner.id, to: "grace@example.com" };
  expect(mailed).toEqual([{ id: `invitation:${String(body.id)}`, mail: { $case: "invitation", value } }]);
});

it("has an invitation mailed although executions was away when it was made", async () => {
  untaken = 1;
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const sent = { json: { role: "viewer", email: "grace@example.com" }, headers: platform.bySession(owner) };
  expect((await platform.send(`/api/organizations/${id}/invitations`, sent)).status).toBe(201);
  await eventually(() => mailed.length === 1);
});

it("lets editors change the keys that they made, and owners all", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const editor = await join(platform, owner, id, "editor");
  const [own, others] = [await makeKey(platform, editor, id), await makeKey(platform, owner, id)];
  const rotate = (member: User, key: { id: string }) =>
    platform.send(`/api/keys/${key.id}/rotate`, { json: { graceSeconds: 0 }, headers: memberOf(platform, member, id) });
  expect((await rotate(editor, others)).status).toBe(404);
  expect((await rotate(editor, own)).status).toBe(200);
  expect((await rotate(owner, own)).status).toBe(200);
});

it("counts the requests of a person together, whatever organization they are for", async () => {
  const tier = `slow-${randomUUID().slice(0, 8)}`;
  const json = { base: "pro", rateLimitPerMinute: 3, markup: 1.5, monthlyCredits: 10, concurrency: 1 };
  await platform.send(`/api/admin/tiers/${tier}`, { method: "PUT", json, headers: platform.bySession(platform.admin) });
  const owner = await platform.createUser({ tier });
  const id = await makeOrganization(platform, owner);
  const editor = await join(platform, owner, id, "editor");
  const ask = async (headers: Record<string, string>) => (await platform.send("/api/folders", { headers })).status;
  expect([await ask(platform.bySession(owner)), await ask(memberOf(platform, owner, id)), await ask(platform.bySession(owner))]).toEqual([
    200, 200, 200,
  ]);
  expect(await ask(memberOf(platform, owner, id))).toBe(429);
  expect(await ask(memberOf(platform, editor, id))).toBe(200);
});

it("keeps a record of changes for the owners, of strangers' attempts none", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const editor = await join(platform, owner, id, "editor");
  const stranger = await platform.createUser();
  const { id: keyId } = await makeKey(platform, editor, id);
  await platform.send(`/api/organizations/${id}/members/${editor.id}`, {
    method: "PATCH",
    json: { role: "owner" },
    headers: platform.bySession(stranger),
  });
  const secret = { value: "a value of some length", hosts: ["api.example.com"] };
  await platform.send("/api/secrets/BANK", { method: "PUT", json: secret, headers: memberOf(platform, editor, id) });
  const budget = { credits: 5, window: "month" };
  await platform.send(`/api/keys/${keyId}/budget`, { method: "PUT", json: budget, headers: memberOf(platform, owner, id) });
  const { body: saved } = await platform.send("/api/workflows", { json: { name: "Poster" }, headers: memberOf(platform, editor, id) });
  await platform.send(`/api/workflows/${String(saved.slug)}/versions`, { json: {}, headers: memberOf(platform, editor, id) });
  await platform.send(`/api/organizations/${id}/members/${editor.id}`, {
    method: "PATCH",
    json: { role: "viewer" },
    headers: platform.bySession(owner),
  });

  const { body, text } = await platform.send(`/api/organizations/${id}/audit`, { headers: platform.bySession(owner) });
  const rows = (body.rows as { action: string; actor: string; outcome: string }[]).map(({ action, actor, outcome }) => [
    action,
    actor === owner.id ? "owner" : actor === editor.id ? "editor" : actor,
    outcome,
  ]);
  expect(rows.reverse()).toEqual([
    ["invitation.create", "owner", "done"],
    ["member.join", "editor", "done"],
    ["key.create", "editor", "done"],
    ["secret.put", "editor", "done"],
    ["budget.set", "owner", "done"],
    ["workflow.publish", "editor", "done"],
    ["member.change", "owner", "done"],
  ]);
  expect(text).not.toContain(secret.value);
  const own = await platform.send(`/api/organizations/${owner.id}/audit`, { headers: platform.bySession(owner) });
  expect((own.body.rows as { action: string }[]).map(({ action }) => action)).toEqual(["key.create"]);
  const { text: ofAdmins } = await platform.send("/api/admin/audit?limit=500", { headers: platform.bySession(platform.admin) });
  expect(ofAdmins).not.toContain("member.join");
  const { text: asked } = await platform.send(`/api/admin/audit?owner=${id}`, { headers: platform.bySession(platform.admin) });
  expect(asked).toBe(text);
});

describe("the table of tenancy", () => {
  beforeAll(async () => {
    cast = await gather(platform);
    runs.set(cast.owned.executionId, cast.id);
  });

  it("knows every route about organizations", () => expect(unknownRoutes()).toEqual([]));

  it("lets nobody do more than their role in an organization, or see that it has anything, by any route", async () => {
    const { checks, wrong } = await checkTenancy({ platform, cast: cast! });
    expect(wrong).toEqual([]);
    expect(checks).toBeGreaterThanOrEqual(300);
  });

  it("lets members manage their organization as far as their role goes", async () => {
    const { seen, wanted } = await checkManagement({ platform, cast: cast! });
    expect(seen).toEqual(wanted);
  });
});
