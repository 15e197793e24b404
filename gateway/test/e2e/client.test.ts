import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createClient, NodeloomError, verifyWebhook, type Client, type WebhookMessage } from "@nodeloom/client";
import { startMailServer, type MailServer } from "../../../test-support/mail-server";
import { call, clientOf, eventually, type Account } from "../../../test-support/client";
import { clip, greeting } from "../../../test-support/graphs";
import { startPlatform, type Platform } from "../../../test-support/platform";
import { startRecorder, type Recorder } from "../../../test-support/recorder";

const execute = promisify(execFile);

let platform: Platform;
let http: ReturnType<typeof clientOf>;
let account: Account & { webhookSecret?: string };
let client: Client;
let receiver: Recorder;
let mails: MailServer;
const messages: WebhookMessage[] = [];

beforeAll(async () => {
  receiver = await startRecorder((response, { bytes, headers }) => {
    messages.push(verifyWebhook(bytes, headers, account.webhookSecret!));
    response.writeHead(204).end();
  });
  mails = await startMailServer();
  const env = { SMTP_URL: `smtp://127.0.0.1:${mails.port}`, SMTP_TLS: "optional", MAIL_FROM: "Nodeloom <mail@example.com>" };
  platform = await startPlatform({ allow: [receiver.address], env });
  http = clientOf(platform);
  account = await http.account({ tier: "business", webhook: { url: `${receiver.url}/` } });
  client = createClient({ baseUrl: platform.baseUrl, apiKey: account.key });
});
afterAll(async () => {
  await platform.stop();
  await mails.stop();
  await receiver.close();
});

describe("the client, on a real platform", () => {
  it("keeps workflows: create, read, update, move, list, schema, delete", async () => {
    const created = await client.workflows.create({ ...greeting(), publicPlayground: true });
    const { slug } = created;
    const { body, headers } = await client.request("getWorkflow", { params: { slug } });
    expect(body).toEqual(created);
    const ifMatch = headers.get("etag")!;
    const changed = await client.workflows.update(slug, { ...created, description: "Says hello" }, { ifMatch });
    expect(changed).toMatchObject({ slug, description: "Says hello", nodes: created.nodes });
    await expect(client.workflows.update(slug, { description: "late" }, { ifMatch })).rejects.toMatchObject({ status: 412 });
    const { body: folder } = await client.request("createFolder", { body: { name: "Mine" } });
    expect(await client.workflows.move(slug, folder.id)).toMatchObject({ folderId: folder.id });
    expect((await client.workflows.list()).map((one) => one.slug)).toContain(slug);
    expect(await client.workflows.schema(slug)).toMatchObject({ fields: [{ name: "prompt" }], estimatedCreditCost: null });
    expect(await createClient({ baseUrl: platform.baseUrl }).workflows.publicSchema(slug)).toMatchObject({ name: "Greeting" });
    await client.workflows.delete(slug);
    await expect(client.workflows.get(slug)).rejects.toMatchObject({ status: 404, code: undefined });
  });

  it("runs a workflow and a model, and returns their cost", async () => {
    const { slug } = await client.workflows.create(greeting());
    expect(await client.run({ workflow: slug }, { prompt: "Ada" })).toMatchObject({
      success: true,
      result: { text: "Hello Ada" },
      cost: 0,
    });
    const target = { model: "sandbox-speech" };
    const { estimatedCreditCost } = await client.quote(target, { prompt: "hi" });
    const { cost, executionId } = await client.run(target, { prompt: "hi" });
    expect(cost).toBe(estimatedCreditCost);
    expect(await client.executions.get(executionId)).toMatchObject({ status: "completed", creditsCost: cost });
    expect(await client.usage.models()).toEqual(["sandbox-speech"]);
    expect(await client.usage.list({ modelId: "sandbox-speech" })).toMatchObject({ total: 1, rows: [{ source: "api-slim" }] });
  });

  it("returns the same run for the same Idempotency-Key", async () => {
    const { slug } = await client.workflows.create(greeting());
    const options = { idempotencyKey: "the-same" };
    const [first, second] = [await client.run({ workflow: slug }, {}, options), await client.run({ workflow: slug }, {}, options)];
    expect(second).toEqual(first);
  });

  it("submits, waits for the end, and gets a webhook that it can verify", async () => {
    const { slug } = await client.workflows.create(clip());
    const { executionId, webhookDelivery } = await client.submit({ workflow: slug });
    expect(webhookDelivery).toMatchObject({ configured: true });
    expect(await client.wait(executionId)).toMatchObject({ status: "completed", result: { videos: [{}] } });
    const [message] = await eventually(
      () => Promise.resolve(messages),
      (all) => all.length > 0,
    );
    expect(message).toMatchObject({ type: "execution.completed", data: { executionId, status: "completed" } });
  });

  it("continues to wait if a run takes longer than the request", async () => {
    const { slug } = await client.workflows.create(clip({ latencyMs: 1_200 }));
    const completed = await client.run({ workflow: slug }, {}, { headers: { prefer: "wait=0" } });
    expect(completed).toMatchObject({ success: true, result: { videos: [{}] } });
    expect(completed.cost).toBeGreaterThan(0);
  });

  it("follows a run live, and resumes where a reader stopped", async () => {
    const { executionId } = await client.submit({ model: "sandbox-video" }, { prompt: "a loom", seconds: 1, sandbox: { latencyMs: 500 } });
    let after = 0;
    for await (const event of client.events(executionId)) {
      after = event.id;
      if (event.type === "submitted") break;
    }
    const rest: string[] = [];
    for await (const { id, type } of client.events(executionId, { after })) rest.push(`${id} ${type}`);
    expect(rest[0]).toMatch(new RegExp(`^${after + 1} `));
    expect(rest.at(-1)).toMatch(/ settled$/);
  });

  it("uploads a file that becomes an input", async () => {
    const { result } = await client.run({ model: "sandbox-image" }, { prompt: "a loom" });
    const [{ url }] = result.images as [{ url: string }];
    const { id, contentType } = await client.upload(await (await fetch(url)).blob());
    expect(contentType).toBe("image/png");
    expect(await client.run({ model: "sandbox-image" }, { prompt: "another", image: id })).toMatchObject({ success: true });
  });

  it.each([
    ["an ES module", "module", 'import { createClient, verifyWebhook } from "@nodeloom/client";'],
    ["a CommonJS module", "commonjs", 'const { createClient, verifyWebhook } = require("@nodeloom/client");'],
  ])("is loaded by %s", async (_what, type, load) => {
    const script = `${load} createClient({ baseUrl: process.argv[1], apiKey: process.argv[2] }).whoami().then(({ id }) => console.log(id, typeof verifyWebhook));`;
    const { stdout } = await execute(process.execPath, [`--input-type=${type}`, "-e", script, platform.baseUrl, account.key!], {
      cwd: __dirname,
    });
    expect(stdout.trim()).toBe(`${account.userId} function`);
  });

  it("cancels", async () => {
    const { slug } = await client.workflows.create(clip({ latencyMs: 600_000 }));
    const { executionId } = await client.submit({ workflow: slug });
    expect(await client.cancel(executionId)).toBe("cancel_requested");
    expect(await client.wait(executionId)).toMatchObject({ status: "cancelled" });
    expect(await client.cancel(executionId)).toBe("already_cancelled");
  });

  it("throws typed errors of the service", async () => {
    const error: unknown = await client.run({ model: "no-such-model" }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NodeloomError);
    expect(error).toMatchObject({ status: 404, code: "MODEL_NOT_FOUND", requestId: expect.any(String) as string });
    const { slug } = await client.workflows.create(clip({ fail: "job", latencyMs: 10 }));
    await expect(client.run({ workflow: slug })).rejects.toMatchObject({ code: "EXECUTION_FAILED", details: { nodeId: "clip" } });
    const stranger = createClient({ baseUrl: platform.baseUrl, apiKey: "nl_test_nothing" });
    await expect(stranger.whoami()).rejects.toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    expect(await client.whoami()).toMatchObject({ id: account.userId, tier: "business" });
    expect((await client.models.list()).map(({ internalName }) => internalName)).toContain("sandbox-image");
  });
});

/** Token after `#token=` in the newest email to an address with a link to a page. */
const mailedToken = async (to: string, page: string): Promise<string> => {
  const link = new RegExp(`/${page}#token=([\\w.-]+)`);
  const tokens = (): string[] =>
    mails.received
      .filter((mail) => mail.to.includes(to))
      .flatMap(({ text }) => link.exec(text.replace(/=\r\n/g, "").replace(/=3D/g, "="))?.slice(1, 2) ?? []);
  return (
    await eventually(
      () => Promise.resolve(tokens()),
      (rows) => rows.length > 0,
    )
  ).at(-1)!;
};

it("emails links that confirm an address and set a password, and doesn't reveal which addresses have an account", async () => {
  const send = (path: string, body?: unknown, cookie?: string) =>
    call(platform.baseUrl, "POST", path, { body, ...(cookie ? { cookie } : {}) });
  const { email, cookie } = await http.account({ tier: "pro" });
  expect(await send("/api/auth/verify", { token: await mailedToken(email, "verify-address") }, cookie)).toMatchObject({ status: 204 });
  const settings = await call(platform.baseUrl, "GET", "/api/me/mail", { cookie });
  expect(settings.body).toMatchObject({
    email,
    verifiedAt: expect.any(String) as string,
    notices: { lowCredits: true, budgetAlerts: true, retiringModels: true },
  });

  const [knownReply, unknown] = [
    await send("/api/auth/password/reset", { email }),
    await send("/api/auth/password/reset", { email: `x${email}` }),
  ];
  expect([knownReply.status, knownReply.text]).toEqual([202, unknown.text]);
  expect(unknown.status).toBe(202);
  const token = await mailedToken(email, "reset-password");
  const redeem = () => send("/api/auth/password-reset", { token, new: "a loom of many colours" });
  expect((await Promise.all([redeem(), redeem()])).map(({ status }) => status).sort()).toEqual([204, 401]);
  expect((await send("/api/auth/verify/send", undefined, cookie)).status).toBe(401);
  expect((await send("/api/auth/login", { email, password: "a loom of many colours" })).status).toBe(200);
  expect(mails.received.filter(({ to }) => to.includes(`x${email}`))).toEqual([]);
});

it("mails approvers of a published workflow a link, by which one of them decides signed out, once", async () => {
  const { userId, cookie } = account;
  const legal = "legal@loom.example";
  const review = { id: "ok", type: "approval", data: { title: "Send the campaign?", approvers: [legal, "press@loom.example"] } };
  const nodes = [
    { id: "draft", type: "text-box", data: { text: "a paper boat" } },
    review,
    { id: "out", type: "response-output", data: {} },
  ];
  const edge = (source: string, sourceHandle: string, target: string, targetHandle: string) => ({
    ...{ id: `${source}-${target}`, source, sourceHandle, target, targetHandle },
  });
  const edges = [edge("draft", "text", "ok", "value"), edge("ok", "approved", "out", "text")];
  const { slug } = await client.workflows.create({ name: "Campaign", nodes, edges });
  const decidedBefore = mails.received.length;
  const draft = await client.submit({ workflow: slug });
  expect((await call(platform.baseUrl, "POST", `/api/workflows/${slug}/versions`, { cookie, body: {} })).status).toBe(201);
  const { executionId } = await client.submit({ workflow: slug });
  const token = await mailedToken(legal, "decide");
  const post = (path: string, body: unknown) => call(platform.baseUrl, "POST", path, { body });
  const read = (value = token) => post("/api/approvals/link", { token: value });

  expect(await read("nonsense")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  expect(await read("x".repeat(1_000))).toMatchObject({ status: 400 });
  expect(await read()).toMatchObject({
    status: 200,
    body: { state: "waiting", title: "Send the campaign?", workflow: slug, value: "a paper boat", address: legal, decision: null },
  });
  const page = await call(platform.baseUrl, "GET", "/decide", { headers: { accept: "text/html" } });
  expect([page.status, page.headers.get("referrer-policy")]).toEqual([200, "no-referrer"]);
  const decide = () => post("/api/approvals/link/decision", { token, decision: "approve", comment: "Go." });
  const answers = await Promise.all([decide(), decide()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const decision = { nodeId: "ok", decision: "approve", decidedBy: { address: legal }, comment: "Go." };
  expect(answers.find(({ status }) => status === 200)!.body).toMatchObject(decision);
  expect(await client.wait(executionId)).toMatchObject({ status: "completed", result: { text: "a paper boat" }, decisions: [decision] });
  expect(await read()).toMatchObject({ status: 200, body: { state: "decided", decision: "approve" } });
  expect((await read()).body).not.toHaveProperty("value");
  // The other approver's link has ended, and the draft's run mails no links.
  const other = await mailedToken("press@loom.example", "decide");
  expect((await read(other)).body).toMatchObject({ state: "decided" });
  expect(mails.received.slice(decidedBefore).filter(({ text }) => text.includes("/decide#"))).toHaveLength(2);
  const audit = await call(platform.baseUrl, "GET", `/api/organizations/${userId}/audit?action=execution.decide`, { cookie });
  expect(audit.body.rows).toContainEqual(expect.objectContaining({ actor: legal, target: executionId, outcome: "done" }));
  expect(audit.text).not.toContain(token);

  await client.cancel(draft.executionId);
  expect((await call(platform.baseUrl, "DELETE", `/api/executions/${executionId}`, { cookie })).status).toBe(204);
  await eventually(read, ({ status }) => status === 404);
});
