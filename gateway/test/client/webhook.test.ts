import { verifyWebhook, WebhookVerificationError } from "@nodeloom/client";
import { Webhook } from "standardwebhooks";
import { FIXTURE } from "../../../test-support/webhook-fixture";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const BODY = '{"type":"webhook.test","timestamp":"2026-06-01T00:00:00.000Z","data":{"keyId":"k"}}';

const signed = (at = new Date(), secrets = [SECRET]): Record<string, string> => ({
  "webhook-id": "msg_1",
  "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
  "webhook-signature": secrets.map((secret) => new Webhook(secret).sign("msg_1", at, BODY)).join(" "),
});

describe("verifying a webhook", () => {
  it("returns the message, from text or bytes and headers in any case", () => {
    const message = { type: "webhook.test", data: { keyId: "k" } };
    expect(verifyWebhook(BODY, signed(), SECRET)).toMatchObject(message);
    const upper = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]));
    expect(verifyWebhook(Buffer.from(BODY), upper, SECRET)).toMatchObject(message);
    expect(verifyWebhook(BODY, new Headers(signed()), SECRET)).toMatchObject(message);
  });

  it("accepts the old and the new secret while both sign", () => {
    const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
    const headers = signed(new Date(), [other, SECRET]);
    for (const secret of [SECRET, other]) expect(verifyWebhook(BODY, headers, secret)).toMatchObject({ type: "webhook.test" });
  });

  it("accepts signatures of the official Python library, at their time", () => {
    const { secret, id, timestamp, body, signature } = FIXTURE;
    const headers = { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signature };
    jest.useFakeTimers({ now: timestamp * 1_000 });
    try {
      expect(verifyWebhook(body, headers, secret)).toMatchObject({ type: "execution.completed" });
    } finally {
      jest.useRealTimers();
    }
    expect(() => verifyWebhook(body, headers, secret)).toThrow(WebhookVerificationError);
  });

  it.each<[string, RegExp, unknown, Record<string, string>, string]>([
    ["a parsed body", /body was parsed/, JSON.parse(BODY), signed(), SECRET],
    ["a serialized body", /must be the raw one/, JSON.stringify(JSON.parse(BODY), null, 1), signed(), SECRET],
    ["a variable that isn't set", /there is no secret/, BODY, signed(), undefined as unknown as string],
    ["an API key", /begins with whsec_/, BODY, signed(), "nl_live_0123456789"],
    ["another webhook's secret", /secret that of this webhook/, BODY, signed(), `whsec_${Buffer.alloc(32, 9).toString("base64")}`],
    ["an old message", /signed \d+ s ago, and 300 s are tolerated/, BODY, signed(new Date(Date.now() - 3_600_000)), SECRET],
    ["a slow clock", /s ahead of this clock/, BODY, signed(new Date(Date.now() + 3_600_000)), SECRET],
    ["no headers", /no webhook-id, webhook-timestamp, webhook-signature header/, BODY, {}, SECRET],
  ])("explains what to check for %s", (_what, message, body, headers, secret) => {
    const verify = () => verifyWebhook(body as string, headers, secret);
    expect(verify).toThrow(WebhookVerificationError);
    expect(verify).toThrow(message);
  });

  it.each<[string, string, Record<string, string>]>([
    ["a changed body", BODY.replace('"k"', '"l"'), signed()],
    ["another id", BODY, { ...signed(), "webhook-id": "msg_2" }],
    ["an old message", BODY, signed(new Date(Date.now() - 3_600_000))],
    ["no signature", BODY, { "webhook-id": "msg_1" }],
  ])("rejects %s", (_what, body, headers) => {
    expect(() => verifyWebhook(body, headers, SECRET)).toThrow(WebhookVerificationError);
  });
});
