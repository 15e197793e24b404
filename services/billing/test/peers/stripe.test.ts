import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import Stripe from "stripe";
import { createGrpcClient, type ClientOf } from "@nodeloom/platform";
import { payments as proto } from "@nodeloom/proto";
import { service } from "../../src/main";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { peerOf, START_MS, startPeer } from "../../../../test-support/peer";
import { startMigrated } from "../../../../test-support/start-migrated";
import { dropDatabase, ownDatabase } from "../support/instance";

/** Sends requests to stripe-mock, which rejects requests that Stripe's OpenAPI document doesn't define. */

// A key in the form that stripe-mock accepts.
const KEY = "sk_test_123";
const env = ownDatabase();
let port: number;
let stopMock: () => Promise<void>;
let stopBilling: () => Promise<void>;
let client: ClientOf<proto.PaymentsServiceServer>;

const startBilling = async (more: Record<string, string>) => {
  const settings = { STRIPE_SECRET_KEY: KEY, STRIPE_WEBHOOK_SECRET: "whsec_of_peers", STRIPE_API_BASE: `http://127.0.0.1:${port}` };
  const running = await startMigrated(service, { ...env, ...settings, ...more });
  const address = `127.0.0.1:${running.ports!.BILLING_LISTEN!}`;
  const own = createGrpcClient<proto.PaymentsServiceServer>(proto.PaymentsServiceService, { address });
  const stop = async (): Promise<void> => {
    own.close();
    await running.stop();
  };
  return { client: own, stop };
};

beforeAll(async () => {
  port = await freePort();
  stopMock = await startPeer({
    command: peerOf("stripe"),
    args: ["-http-addr", `127.0.0.1:${port}`],
    env: {},
    cwd: tmpdir(),
    isReady: async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0,
  });
  ({ client, stop: stopBilling } = await startBilling({}));
}, START_MS);
afterAll(async () => {
  await stopBilling?.();
  await stopMock?.();
  await dropDatabase(env);
});

const order = (userId = `user-${randomUUID()}`, reference = randomUUID()) => ({
  ...{ userId, reference, email: "ada@example.com", credits: 1_000 },
  successUrl: "https://nodeloom.example.com/balance?session={CHECKOUT_SESSION_ID}",
  cancelUrl: "https://nodeloom.example.com/balance",
});

it("creates a checkout with parameters of Stripe's document, and returns its address", async () => {
  const { url } = await client.createCheckout(order());
  expect(url).toMatch(/^https:\/\/checkout\.stripe\.com\//);
});

it("returns it again for the same reference only with the same account and credits", async () => {
  const first = order();
  await client.createCheckout(first);
  await expect(client.createCheckout(first)).resolves.toMatchObject({ url: expect.any(String) as string });
  await expect(client.createCheckout({ ...first, credits: 2_000 })).rejects.toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
  await expect(client.createCheckout(order("another", first.reference))).rejects.toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
});

it("is rejected by Stripe's document for unknown parameters, so the check can fail", async () => {
  const stripe = new Stripe(KEY, { host: "127.0.0.1", port, protocol: "http", maxNetworkRetries: 0 });
  const wrong = { mode: "payment", success_url: "https://a", line_items: [{ quantity: 1, price: "p" }], nonsense: "x" };
  await expect(stripe.checkout.sessions.create(wrong as Stripe.Checkout.SessionCreateParams)).rejects.toMatchObject({ statusCode: 400 });
});

it("accepts only whole credits within the allowed range", async () => {
  for (const credits of [0, 499, 100_001])
    await expect(client.createCheckout({ ...order(), credits })).rejects.toMatchObject({ metadata: { issues: [{ path: "credits" }] } });
});

it("reports that Stripe is unavailable without a response, and accepts the order again afterwards", async () => {
  const nobody = await freePort();
  const away = await startBilling({ STRIPE_API_BASE: `http://127.0.0.1:${nobody}` });
  const one = order();
  await expect(away.client.createCheckout(one)).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  await away.stop();
  await expect(client.createCheckout(one)).resolves.toMatchObject({ url: expect.any(String) as string });
});
