import { request, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { freePort } from "../../deploy/local/servers/ports.cjs";
import { send, type Answer, type RequestOptions } from "./support/http";
import { startRecorder, type RecordedRequest, type Recorder } from "../../test-support/recorder";
import { startPlatform, type Platform, type User } from "./support/platform";

/** Replaces Temporal's UI and records its requests. */
const startUi = async (): Promise<Recorder> => {
  const recorder = await startRecorder((response) => {
    response.setHeader("set-cookie", ["_csrf=1; Path=/", "nodeloom_session=stolen; Path=/"]);
    response.setHeader("access-control-allow-origin", "*");
    response.end("a page");
  });
  return { ...recorder, url: `${recorder.url}/temporal` };
};

let platform: Platform;
let ui: Recorder;
let pro: User;
let origin: string;
let stops: (() => Promise<void>)[];

const startListener = async (more: Record<string, string>): Promise<string> => {
  const port = await freePort();
  const { stop } = await platform.startGateway({ ADMIN_LISTEN: `127.0.0.1:${port}`, TEMPORAL_UI_URL: ui.url, ...more });
  stops.push(stop);
  return `http://127.0.0.1:${port}`;
};

beforeAll(async () => {
  stops = [];
  [platform, ui] = await Promise.all([startPlatform(), startUi()]);
  pro = await platform.createUser();
  origin = await startListener({});
});
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await platform.stop();
  await ui.close();
});

const PAGE = "/temporal/namespaces/default/workflows";
/** Sends requests as browsers do, by default with an administrator's session. */
const ask = async (
  path: string,
  { headers, ...options }: RequestOptions = {},
  at = origin,
): Promise<Answer & { reached: RecordedRequest[] }> => {
  const before = ui.requests.length;
  const answer = await send(at, path, { ...options, headers: { cookie: platform.admin.cookie, host: new URL(at).host, ...headers } });
  return { ...answer, reached: ui.requests.slice(before) };
};
const refusal = async (path: string, options: RequestOptions, at = origin): Promise<[number, unknown, number]> => {
  const { status, body, reached } = await ask(path, options, at);
  return [status, body?.code, reached.length];
};

describe("Temporal's UI", () => {
  it("is shown to signed-in administrators, whose session, key and address it never gets", async () => {
    const cookie = `${platform.admin.cookie}; _csrf=abc; other=1`;
    const { status, text, headers, reached } = await ask(`${PAGE}?query=x`, { headers: { cookie, authorization: "Bearer x" } });
    expect([status, text, reached.length]).toEqual([200, "a page", 1]);
    const [incoming] = reached;
    expect(incoming!.path).toBe(`${PAGE}?query=x`);
    expect(incoming!.headers).toMatchObject({ host: new URL(ui.url).host, cookie: "_csrf=abc" });
    expect(JSON.stringify(incoming!.headers)).not.toMatch(/nodeloom_session|Bearer|x-forwarded/);
    expect(headers).toMatchObject({ "x-frame-options": "SAMEORIGIN", "content-security-policy": "frame-ancestors 'none'" });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect((headers["set-cookie"] ?? []).filter((one) => one.includes("stolen"))).toEqual([]);
    expect((await ask("/")).headers.location).toBe("/temporal");
  });

  it("is shown to administrators only", async () => {
    expect(await refusal(PAGE, { headers: { cookie: "" } })).toEqual([401, "UNAUTHENTICATED", 0]);
    expect(await refusal(PAGE, { headers: { cookie: pro.cookie } })).toEqual([403, "CAPABILITY_DENIED", 0]);
    const byKey = { cookie: "", "x-api-key": platform.admin.key! };
    expect(await refusal(PAGE, { headers: byKey })).toEqual([401, "UNAUTHENTICATED", 0]);
    const led = await ask(PAGE, { headers: { cookie: "", accept: "text/html" } });
    expect([led.status, led.headers.location, led.reached.length]).toEqual([303, platform.baseUrl, 0]);
  });

  it("rejects a foreign Host, even with a valid session", async () => {
    for (const host of ["evil.test", "localhost", new URL(platform.baseUrl).host])
      expect(await refusal(PAGE, { headers: { host } })).toEqual([403, "CROSS_ORIGIN_DENIED", 0]);
  });

  it("changes nothing unless this is configured, and then only for its own pages", async () => {
    const path = "/temporal/api/v1/namespaces/default/workflows/x/terminate";
    const query = "/temporal/api/v1/namespaces/default/workflows/x/query/__stack_trace";
    expect(await refusal(path, { json: {}, headers: { origin } })).toEqual([405, "METHOD_NOT_ALLOWED", 0]);
    expect((await ask(query, { json: {}, headers: { origin } })).status).toBe(200);
    const writable = await startListener({ TEMPORAL_UI_WRITES: "true" });
    expect((await ask(path, { json: {}, headers: { origin: writable } }, writable)).reached).toHaveLength(1);
    for (const headers of [{ origin: platform.baseUrl }, { origin: "http://evil.test" }, { origin: "null" }, {}] as Record<
      string,
      string
    >[])
      expect(await refusal(path, { json: {}, headers }, writable)).toEqual([403, "CROSS_ORIGIN_DENIED", 0]);
  });

  it("accepts no upgrade to another protocol", async () => {
    const { hostname, port, host } = new URL(origin);
    const headers = { cookie: platform.admin.cookie, host, connection: "Upgrade", upgrade: "websocket" };
    const outgoing = request({ hostname, port, path: PAGE, headers }).end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(403);
    response.resume();
  });

  it("is linked for administrators if it is served, and isn't served without an address", async () => {
    const temporalOf = async (baseUrl: string): Promise<unknown> =>
      (await send(baseUrl, "/api/admin/temporal", { headers: { cookie: platform.admin.cookie } })).body;
    expect(await temporalOf(platform.baseUrl)).toEqual({ url: null, namespace: "default" });
    const port = await freePort();
    const more = { ADMIN_LISTEN: `127.0.0.1:${port}`, TEMPORAL_UI_URL: ui.url, TEMPORAL_NAMESPACE: "runs" };
    const { baseUrl, stop } = await platform.startGateway(more);
    stops.push(stop);
    expect(await temporalOf(baseUrl)).toEqual({ url: `http://127.0.0.1:${port}/temporal`, namespace: "runs" });
    await expect(startListener({ TEMPORAL_UI_URL: "http://127.0.0.1:1/ui" })).rejects.toThrow("TEMPORAL_UI_URL");
    const unserved = await freePort();
    const without = await platform.startGateway({ ADMIN_LISTEN: `127.0.0.1:${unserved}` });
    stops.push(without.stop);
    await expect(send(`http://127.0.0.1:${unserved}`, "/")).rejects.toThrow("ECONNREFUSED");
  });

  it("is the real one", async () => {
    const { TEMPORAL_UI_URL } = process.env;
    if (!TEMPORAL_UI_URL) throw new Error("TEMPORAL_ADDRESS names a server without its UI: set TEMPORAL_UI_URL, too");
    const at = await startListener({ TEMPORAL_UI_URL });
    const page = await ask(PAGE, { headers: { accept: "text/html" } }, at);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("<!doctype html>")]);
    const namespaces = await ask("/temporal/api/v1/namespaces", {}, at);
    expect(namespaces.body.namespaces).not.toHaveLength(0);
  });
});
