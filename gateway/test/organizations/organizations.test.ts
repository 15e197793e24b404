import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import type { mail } from "@nodeloom/proto";
import { eventually } from "../../../test-support/eventually";
import type { FakeService } from "../../../test-support/fake-service";
import { sessionCookie } from "../support/http";
import { PASSWORD, startPlatform, type Platform, type User } from "../support/platform";
import { gather, invite, join, makeKey, makeOrganization, memberOf, type Cast } from "./cast";
import { createRunsAndMails } from "./runs-and-mails";
import { checkManagement, checkTenancy, unknownRoutes } from "./tenancy";

const service = createRunsAndMails();
const { runs } = service;
let cast: Cast | undefined;
let fake: FakeService;
let platform: Platform;

beforeAll(async () => {
  fake = await service.start();
  // All rejected requests of the table come from one address.
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address, NOTIFICATIONS_ADDRESS: fake.address, ANONYMOUS_RATE_LIMIT: "100000" });
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
});
beforeEach(() => service.forget());

const stop = (owner: User, id: string, member: User): Promise<unknown> =>
  platform.send(`/api/organizations/${id}/members/${member.id}`, { method: "DELETE", headers: platform.bySession(owner) });

it("lets members share workflows, keys and credits, and keeps people's own resources separate", async () => {
  const owner = await platform.createUser({ tier: "business" });
  const id = await makeOrganization(platform, owner);
  const editor = await join(platform, owner, id, "editor");
  const headers = memberOf(platform, editor, id);
  const saved = await platform.send("/api/workflows", { json: { name: "Shared poster" }, headers });
  const slugs = async (headerFields: Record<string, string>) =>
    ((await platform.send("/api/workflows", { headers: headerFields })).body as unknown as { slug: string }[]).map(({ slug }) => slug);
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

it("ends the streams and polls of a member whose role is revoked, but not the run", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const runner = await join(platform, owner, id, "runner");
  const executionId = randomUUID();
  runs.set(executionId, id);
  const headers = memberOf(platform, runner, id);
  const poll = () => platform.send(`/api/executions/${executionId}`, { headers });
  expect((await poll()).body).toMatchObject({ status: "processing" });

  const streamText = new Promise<string>((resolve, reject) => {
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
  expect(await streamText).toContain("event: started");
  expect((await poll()).status).toBe(404);
  expect((await platform.send(`/api/executions/${executionId}/events`, { headers })).status).toBe(404);
  expect(service.cancelled).toEqual([]);
  const { body } = await platform.send(`/api/executions/${executionId}`, { headers: memberOf(platform, owner, id) });
  expect(body).toMatchObject({ status: "processing" });
});

it("ends the keys of a leaving member, at every gateway", async () => {
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

it("emails the link of an invitation only to the address that it names", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  await invite(platform, owner, id, "viewer");
  const options = { json: { role: "viewer", email: "grace@example.com" }, headers: platform.bySession(owner) };
  const { body } = await platform.send(`/api/organizations/${id}/invitations`, options);
  await eventually(() => Promise.resolve(service.mailsOf("invitation:").length > 0));
  const value = { organizationName: "Loom Works", inviterName: owner.email, link: body.link, userId: owner.id, to: "grace@example.com" };
  expect(service.mailsOf("invitation:")).toEqual([{ id: `invitation:${String(body.id)}`, message: { $case: "invitation", value } }]);
});

it("emails an invitation even if notifications was unavailable when it was created", async () => {
  service.untaken = 1;
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const options = { json: { role: "viewer", email: "grace@example.com" }, headers: platform.bySession(owner) };
  expect((await platform.send(`/api/organizations/${id}/invitations`, options)).status).toBe(201);
  await eventually(() => service.mailsOf("invitation:").length === 1);
});

it("runs nothing for an organization scheduled for deletion, by session or key, until an owner cancels the deletion", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const [second, runner] = [await join(platform, owner, id, "owner"), await join(platform, owner, id, "runner")];
  const { key } = await makeKey(platform, owner, id);
  const remove = (user: User, json: object) =>
    platform.send(`/api/organizations/${id}`, { method: "DELETE", json, headers: platform.bySession(user) });
  expect([(await remove(owner, {})).status, (await remove(owner, { password: "a guess of some length" })).status]).toEqual([400, 401]);
  const reply = await remove(owner, { password: PASSWORD });
  const { erasesAt } = reply.body;
  expect([reply.status, Date.parse(String(erasesAt)) > Date.now()]).toEqual([202, true]);
  expect((await remove(second, { password: PASSWORD })).body).toEqual({ erasesAt });

  const run = (headers: Record<string, string>) => platform.send("/api/workflows/any/quote", { json: { inputs: {} }, headers });
  const leaving = { status: 403, body: { code: "ACCOUNT_LEAVING" } };
  const isRefused = async (headers: Record<string, string>) => (await run(headers)).body.code === "ACCOUNT_LEAVING";
  await eventually(() => isRefused(memberOf(platform, runner, id)));
  await eventually(() => isRefused({ "x-api-key": key }));
  expect(await isRefused(platform.bySession(owner))).toBe(false);
  expect((await platform.send("/api/me", { headers: memberOf(platform, runner, id) })).body).toMatchObject({ organization: { erasesAt } });
  expect((await platform.send(`/api/organizations/${id}`, { headers: platform.bySession(runner) })).body).toMatchObject({ erasesAt });
  expect(await run(memberOf(platform, second, id))).toMatchObject(leaving);

  const keep = () => platform.send(`/api/organizations/${id}/restore`, { method: "POST", headers: platform.bySession(second) });
  expect([(await keep()).status, (await keep()).status]).toEqual([204, 204]);
  await eventually(async () => !(await isRefused({ "x-api-key": key })));
  const decided = () => service.mailsOf(`${id}:`);
  await eventually(() => Promise.resolve(decided().length === 3));
  const about = `${id}:${String(erasesAt)}`;
  const facts = decided().map(({ id: name, message: decisionMail }) => [
    name,
    decisionMail?.$case,
    (decisionMail?.value as mail.OrganizationDecisionMail).personName,
  ]);
  expect(facts.map(String).sort()).toEqual(
    [
      [about, "organizationLeaving", owner.email],
      [about, "organizationLeaving", second.email],
      [about, "organizationKept", second.email],
    ]
      .map(String)
      .sort(),
  );
  const { body } = await platform.send(`/api/organizations/${id}/audit`, { headers: platform.bySession(owner) });
  const rows = (body.rows as { action: string; outcome: string }[]).map(({ action, outcome }) => `${action} ${outcome}`);
  expect(rows).toEqual(expect.arrayContaining(["organization.delete done", "organization.delete failed", "organization.restore done"]));
});

it("lets administrators delete and restore an organization, but not a person's account by this route", async () => {
  const owner = await platform.createUser({ tier: "free" });
  const id = await makeOrganization(platform, owner);
  const headers = platform.bySession(platform.admin);
  const path = `/api/admin/organizations/${id}`;
  const { status, body } = await platform.send(path, { method: "DELETE", headers });
  expect([status, typeof body.erasesAt]).toEqual([202, "string"]);
  expect((await platform.send("/api/admin/organizations", { headers })).body.rows).toContainEqual(expect.objectContaining({ id, ...body }));
  expect((await platform.send(`${path}/restore`, { method: "POST", headers })).status).toBe(204);
  expect((await platform.send(`/api/admin/organizations/${owner.id}`, { method: "DELETE", headers })).status).toBe(404);
  expect((await platform.send(`/api/admin/users/${id}`, { method: "DELETE", headers })).status).toBe(404);
});

it("lets editors change the keys that they created, and owners all keys", async () => {
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

it("accepts the whole link of an invitation instead of its token", async () => {
  const [owner, guest] = [await platform.createUser(), await platform.createUser()];
  const id = await makeOrganization(platform, owner);
  const order = { json: { role: "viewer" }, headers: platform.bySession(owner) };
  const { link } = (await platform.send(`/api/organizations/${id}/invitations`, order)).body;
  const joined = await platform.send("/api/invitations/accept", {
    json: { token: ` ${String(link)}\n` },
    headers: platform.bySession(guest),
  });
  expect([joined.status, joined.body]).toMatchObject([200, { id, role: "viewer" }]);
});

it("is closed while the owner with its tier is suspended, and rejects invitations of unapproved accounts", async () => {
  const [maker, owner] = [await platform.createUser(), await platform.createUser()];
  const id = await makeOrganization(platform, maker);
  const accept = { json: { token: await invite(platform, maker, id, "owner") }, headers: platform.bySession(owner) };
  expect((await platform.send("/api/invitations/accept", accept)).status).toBe(200);
  const change = (user: User, json: object) =>
    platform.send(`/api/admin/users/${user.id}`, { method: "PATCH", json, headers: platform.bySession(platform.admin) });
  const ask = () => platform.send("/api/folders", { headers: memberOf(platform, owner, id) });
  expect((await ask()).status).toBe(200);
  await change(maker, { suspended: true });
  await eventually(async () => (await ask()).body.code === "ACCOUNT_SUSPENDED");
  expect((await platform.send("/api/folders", { headers: platform.bySession(owner) })).status).toBe(200);
  await change(owner, { approved: false });
  const signedIn = await platform.send("/api/auth/login", { json: { email: owner.email, password: PASSWORD } });
  const headers = platform.bySession({ ...owner, cookie: sessionCookie(signedIn) });
  for (const [path, json] of [
    [`/api/organizations/${id}/invitations`, { role: "viewer" }],
    ["/api/organizations", { name: "Another" }],
    ["/api/invitations/accept", { token: "x" }],
  ] as const)
    expect((await platform.send(path, { json, headers })).body.code).toBe("ACCOUNT_NOT_APPROVED");
});

it("counts the requests of a person together, for all organizations", async () => {
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

it("records changes for the owners, but no attempts of strangers", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const editor = await join(platform, owner, id, "editor");
  const stranger = await platform.createUser();
  const key = `/api/keys/${(await makeKey(platform, editor, id)).id}`;
  const { slug } = (await platform.send("/api/workflows", { json: { name: "Poster" }, headers: memberOf(platform, editor, id) })).body;
  const organization = `/api/organizations/${id}`;
  const options = { json: { role: "viewer" }, headers: platform.bySession(owner) };
  const { body: withdrawn } = await platform.send(`${organization}/invitations`, options);
  const member = `${organization}/members/${editor.id}`;
  const promotion = { json: { role: "owner" }, method: "PATCH", headers: platform.bySession(stranger) };
  expect((await platform.send(member, promotion)).status).toBe(404);
  const secret = { value: "a value of some length", hosts: ["api.example.com"] };
  const steps: [User, string, string, string, object?][] = [
    [editor, "secret.put", "PUT", "/api/secrets/BANK", secret],
    [owner, "budget.set", "PUT", `${key}/budget`, { credits: 5, window: "month" }],
    [editor, "workflow.publish", "POST", `/api/workflows/${String(slug)}/versions`, {}],
    [editor, "key.update", "PATCH", key, { name: "Deployed" }],
    [editor, "key.webhook-set", "PUT", `${key}/webhook`, { url: "https://example.com/hook" }],
    [editor, "key.webhook-delete", "DELETE", `${key}/webhook`],
    [editor, "key.rotate", "POST", `${key}/rotate`, { graceSeconds: 0 }],
    [owner, "budget.delete", "DELETE", `${key}/budget`],
    [editor, "key.revoke", "DELETE", key],
    [editor, "secret.delete", "DELETE", "/api/secrets/BANK"],
    [owner, "organization.rename", "PATCH", organization, { name: "Looms" }],
    [owner, "invitation.delete", "DELETE", `${organization}/invitations/${String(withdrawn.id)}`],
    [owner, "member.change", "PATCH", member, { role: "viewer" }],
    [editor, "member.leave", "DELETE", member],
  ];
  for (const [who, action, method, path, json] of steps) {
    const { status } = await platform.send(path, { method, headers: memberOf(platform, who, id), ...(json ? { json } : {}) });
    expect([action, status < 300]).toEqual([action, true]);
  }

  const { body, text } = await platform.send(`${organization}/audit`, { headers: platform.bySession(owner) });
  const rows = (body.rows as { action: string; actor: string; outcome: string; before: unknown; after: unknown }[]).reverse();
  expect(rows.map(({ action, actor, outcome }) => [action, actor, outcome])).toEqual([
    ["organization.create", owner.id, "done"],
    ["invitation.create", owner.id, "done"],
    ["member.join", editor.id, "done"],
    ["key.create", editor.id, "done"],
    ["workflow.create", editor.id, "done"],
    ["invitation.create", owner.id, "done"],
    ...steps.map(([who, action]) => [action, who.id, "done"]),
  ]);
  const changeOf = (wantedAction: string) => rows.flatMap(({ action, before, after }) => (action === wantedAction ? [before, after] : []));
  expect(changeOf("organization.rename")).toEqual([{ name: "Loom Works" }, { name: "Looms" }]);
  expect(changeOf("member.change")).toEqual([{ role: "editor" }, { role: "viewer" }]);
  expect(changeOf("member.leave")).toEqual([{ role: "viewer" }, null]);
  for (const hidden of [secret.value, String(withdrawn.token)]) expect(text).not.toContain(hidden);
  const own = await platform.send(`/api/organizations/${owner.id}/audit`, { headers: platform.bySession(owner) });
  expect((own.body.rows as { action: string }[]).map(({ action }) => action)).toEqual(["key.create", "session.create", "account.create"]);
  const { text: ofAdmins } = await platform.send("/api/admin/audit?limit=500", { headers: platform.bySession(platform.admin) });
  expect(ofAdmins).not.toContain("member.join");
  const { text: auditText } = await platform.send(`/api/admin/audit?owner=${id}`, { headers: platform.bySession(platform.admin) });
  expect(auditText).toBe(text);
});

it("lets an editor test only the webhooks of their own keys, and an owner those of any key", async () => {
  const owner = await platform.createUser();
  const id = await makeOrganization(platform, owner);
  const editor = await join(platform, owner, id, "editor");
  const key = await makeKey(platform, editor, id);
  for (const who of [owner, editor])
    await platform.send(`/api/keys/${key.id}/webhook/test`, { method: "POST", headers: memberOf(platform, who, id) });
  expect(service.tested).toEqual([
    { keyId: key.id, userId: id, madeBy: undefined },
    { keyId: key.id, userId: id, madeBy: editor.id },
  ]);
});

describe("the table of tenancy", () => {
  beforeAll(async () => {
    cast = await gather(platform);
    service.show(cast);
  });

  it("knows every route about organizations", () => expect(unknownRoutes()).toEqual([]));

  it("lets no member exceed their role in an organization, or see data beyond it, by any route", async () => {
    const { checks, wrong } = await checkTenancy({ platform, cast: cast! });
    expect(wrong).toEqual([]);
    expect(checks).toBeGreaterThanOrEqual(300);
  });

  it("lets members manage their organization as far as their role allows", async () => {
    const { actual, expected } = await checkManagement({ platform, cast: cast! });
    expect(actual).toEqual(expected);
  });
});
