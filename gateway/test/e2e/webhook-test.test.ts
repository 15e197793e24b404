import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { clientOf, type Account, type Answer } from "./support/client";
import { freePort, startPlatform, type Platform } from "./support/platform";

let platform: Platform;
let client: ReturnType<typeof clientOf>;
let user: Account;
let receiver: Server;
let receiverUrl: string;
let closedUrl: string;
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
let answers = 204;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(answers, { location: "/elsewhere" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const closed = `127.0.0.1:${await freePort()}`;
  closedUrl = `http://${closed}/hook`;
  platform = await startPlatform({ allow: [new URL(receiverUrl).host, closed] });
  client = clientOf(platform);
  user = await client.account({ tier: "pro", capabilities: null });
}, 60_000);
afterAll(async () => {
  await platform.stop();
  receiver.close();
});
beforeEach(() => {
  received.length = 0;
  answers = 204;
});

/** A key of the user's whose webhook is at a URL; with its secret. */
const keyWith = async (url?: string): Promise<{ id: string; webhookSecret: string }> => {
  const webhook = url === undefined ? {} : { webhook: { url, events: ["execution.failed"] } };
  const { body } = await client.createKey(user.cookie, { capabilities: ["webhook:receive"], ...webhook });
  return body as unknown as { id: string; webhookSecret: string };
};
const test = (id: string, cookie = user.cookie): Promise<Answer> => client.call("POST", `/api/keys/${id}/webhook/test`, { cookie });

describe("testing a webhook", () => {
  it("delivers one signed message, whatever events the webhook is for", async () => {
    const { id, webhookSecret } = await keyWith(receiverUrl);
    const answer = await test(id);
    expect(answer).toMatchObject({ status: 200, body: { delivered: true, status: 204, error: null } });
    expect(answer.body.durationMs).toBeLessThan(5_000);
    expect(received).toHaveLength(1);
    const [{ headers, body }] = received as [(typeof received)[number]];
    expect(new Webhook(webhookSecret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: "webhook.test",
      timestamp: expect.any(String) as string,
      data: { keyId: id },
    });
  });

  it.each([500, 302, 410])("tells that the receiver answered %s, and leaves the webhook as it is", async (status) => {
    const { id } = await keyWith(receiverUrl);
    answers = status;
    expect((await test(id)).body).toMatchObject({ delivered: false, status, error: `the receiver answered ${status}` });
    expect(received).toHaveLength(1);
    answers = 204;
    expect((await test(id)).body).toMatchObject({ delivered: true });
  });

  it("tells that nobody answers, or may be asked", async () => {
    const { id } = await keyWith(closedUrl);
    expect(await test(id)).toMatchObject({
      status: 200,
      body: { delivered: false, status: null, error: "the address could not be reached" },
    });
    const { id: inside } = await keyWith(platform.sandboxUrl.replace(/\d+$/, "1"));
    expect((await test(inside)).body).toMatchObject({
      delivered: false,
      status: null,
      error: expect.stringContaining("not a public address") as string,
    });
  });

  it("needs a webhook, and a key of one's own", async () => {
    const { id } = await keyWith();
    expect(await test(id)).toMatchObject({ status: 412, body: { code: "PRECONDITION_FAILED" } });
    const { id: mine } = await keyWith(receiverUrl);
    const other = await client.account({ tier: "pro", capabilities: null });
    for (const wrong of [mine, "no-such-key"]) {
      expect(await test(wrong, other.cookie)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    }
    expect(received).toHaveLength(0);
  });
});
