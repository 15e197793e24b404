import { randomUUID } from "node:crypto";
import { unavailable } from "@nodeloom/kernel";
import { createBilling, type Billing } from "../../src/billing";
import { BILLING_LIMITS } from "../../src/limits";
import { createPaymentStore, type PaymentStore } from "../../src/payments/payment-store";
import { createPayments, type EventReceipt, type Payments } from "../../src/payments/payments";
import { paymentRemovals } from "../../src/payments/removal";
import { connectStripe, type StripePort } from "../../src/payments/stripe";
import { logger, ownStore, type OwnStore } from "../support/database";
import { completed, dispute, eventOf, refund, SECRET, signatureOf } from "./events";

const REPLAYS = 50;
const DAY_MS = 86_400_000;
const SETTINGS = {
  secretKey: "sk_test_of_tests",
  webhookSecret: SECRET,
  // No server listens there, because events need no calls.
  apiBase: "http://127.0.0.1:9",
  priceMicros: 10_000,
  live: false,
};

let own: OwnStore;
let store: PaymentStore;
let stripe: StripePort;
let billings: [Billing, Billing];
let instances: [Payments, Payments];
/** A service that can't reach Stripe. */
let away: Payments;

beforeAll(async () => {
  own = await ownStore(createPaymentStore);
  store = createPaymentStore(own.connection);
  stripe = await connectStripe({ settings: SETTINGS, logger });
  billings = [createBilling({ store: own.store, logger }), createBilling({ store: own.store, logger })];
  instances = billings.map((billing) =>
    createPayments({ store, billing, provider: { settings: SETTINGS, stripe }, logger }),
  ) as typeof instances;
  const unreachable: StripePort = { ...stripe, createSession: () => Promise.reject(unavailable("nothing listens there")) };
  away = createPayments({ store, billing: billings[0], provider: { settings: SETTINGS, stripe: unreachable }, logger });
});
afterAll(async () => {
  await Promise.all(billings.map((billing) => billing.stop()));
  await stripe.close();
  await own.stop();
});

interface Order {
  userId: string;
  checkout: string;
  session: string;
  payment: string;
  amount: number;
}

/** Starts a checkout of 1,000 credits for 10 dollars. */
const beginCheckout = async (userId = `user-${randomUUID()}`): Promise<Order> => {
  const id = randomUUID();
  await store.addCheckout({ id, userId, millicredits: 1_000_000, amount: 1_000, currency: "usd", at: new Date() });
  return { userId, checkout: id, session: `cs_${id}`, payment: `pi_${id}`, amount: 1_000 };
};

const receive = (body: Buffer, instance = 0): Promise<EventReceipt> => instances[instance]!.receive(body, signatureOf(body));
const balanceOf = async (userId: string): Promise<number> => (await billings[0].account({ userId })).topUp;
const rowsOf = async (userId: string): Promise<Record<string, number>> => {
  const { rows } = await billings[0].ledgerPage({ userId, limit: 200, cursor: "" });
  return Object.fromEntries(rows.map(({ id, millicredits }) => [id, millicredits]));
};
const expectSound = async (): Promise<void> => {
  expect((await billings[0].checkLedger({ cursor: "" })).mismatches).toEqual([]);
};

it("credits a payment once, even if its event arrives 50 times at once through two instances", async () => {
  const order = await beginCheckout();
  const body = completed(order);
  const replays = Array.from({ length: REPLAYS }, (_, index) => receive(index % 3 ? body : completed(order), index % 2));
  expect(new Set((await Promise.all(replays)).map(({ outcome }) => outcome))).toEqual(new Set(["taken"]));
  await receive(completed(order, "checkout.session.async_payment_succeeded"));
  expect(await rowsOf(order.userId)).toEqual({ [`stripe:${order.session}`]: 1_000_000 });
  expect(await balanceOf(order.userId)).toBe(1_000_000);
  await expectSound();
});

it("stores a refund and a dispute that arrive before the payment, or at the same time", async () => {
  const order = await beginCheckout();
  const [one, other] = [`re_${randomUUID()}`, `dp_${randomUUID()}`];
  const { payment, userId } = order;
  await receive(refund({ id: one, payment, amount: 250, status: "succeeded" }, "refund.created"));
  expect(await rowsOf(userId)).toEqual({});
  await Promise.all([
    receive(dispute({ id: other, payment, amount: 500, status: "won" }, "charge.dispute.closed")),
    receive(completed(order), 1),
    receive(dispute({ id: other, payment, amount: 500, status: "needs_response" }, "charge.dispute.created"), 1),
  ]);
  const { [`stripe:${order.session}`]: purchaseRow, [`stripe:${one}`]: refunded, ...disputed } = await rowsOf(userId);
  expect([purchaseRow, refunded]).toEqual([1_000_000, -250_000]);
  // An event about a dispute that arrives after its end moves nothing.
  expect([{}, { [`stripe:${other}`]: -500_000, [`stripe:${other}:returned`]: 500_000 }]).toContainEqual(disputed);
  await expectSound();
});

it("takes back credits that are already spent; then only free runs start until new credits cover the debt", async () => {
  const order = await beginCheckout();
  const { userId, payment } = order;
  await receive(completed(order));
  const [billing] = billings;
  const run = (executionId: string, maxMillicredits: number) =>
    billing.hold({ userId, executionId, items: [{ key: "n:0", model: "m", maxMillicredits }], maxActive: 0 });
  await run("spent", 900_000);
  await billing.settle({ userId, executionId: "spent", items: [], captureAll: true });
  await receive(refund({ id: `re_${randomUUID()}`, payment, amount: 1_000, status: "succeeded" }));
  expect(await balanceOf(userId)).toBe(-900_000);
  await expect(run("free", 0)).resolves.toMatchObject({ heldMillicredits: 0 });
  await expect(run("refused", 1)).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDITS" });
  await expectSound();

  const credit = { kind: "adjust", millicredits: -1 } as const;
  await expect(billing.credit({ userId, credit, note: "", reference: "less" })).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  await billing.credit({ userId, credit: { kind: "topup", millicredits: 400_000 }, note: "", reference: "part" });
  expect(await balanceOf(userId)).toBe(-500_000);
  await receive(completed(await beginCheckout(userId)));
  await expect(run("again", 500_000)).resolves.toMatchObject({ heldMillicredits: 500_000 });
  await expectSound();
});

it("takes back at most the bought credits if a payment is refunded and disputed, and the right rest if one of them is reversed", async () => {
  const order = await beginCheckout();
  const { userId, payment } = order;
  const [one, other] = [`re_${randomUUID()}`, `dp_${randomUUID()}`];
  await receive(completed(order));
  await receive(refund({ id: one, payment, amount: 700, status: "succeeded" }));
  await receive(dispute({ id: other, payment, amount: 1_000, status: "needs_response" }));
  expect(await balanceOf(userId)).toBe(0);
  await receive(dispute({ id: other, payment, amount: 1_000, status: "won" }));
  expect(await balanceOf(userId)).toBe(300_000);
  await expectSound();
});

it.each<[string, (order: Order) => Buffer]>([
  ["a negative amount", ({ payment }) => refund({ id: "re_negative", payment, amount: -1_000, status: "succeeded" })],
  ["an amount that is a text", ({ payment }) => refund({ id: "re_text", payment, amount: "1000" as never, status: "succeeded" })],
  ["a part of a cent", ({ payment }) => dispute({ id: "dp_part", payment, amount: 0.5, status: "lost" })],
  ["an operator as its payment", () => refund({ id: "re_any", payment: { id: { $gt: "" } } as never, amount: 1, status: "succeeded" })],
  ["an operator as its checkout", (order) => completed({ ...order, checkout: { $ne: null } as never })],
  ["an operator as its session", (order) => completed({ ...order, session: { $ne: null } as never })],
  ["no object", () => eventOf("refund.created", null as never)],
  ["no id", () => eventOf("refund.created", {}, { id: { $ne: "" } as never })],
])("rejects a signed event with %s, and credits nothing", async (_, eventFor) => {
  const order = await beginCheckout();
  await receive(completed(order));
  const before = await rowsOf(order.userId);
  const another = await beginCheckout(order.userId);
  await expect(receive(eventFor({ ...another, payment: order.payment }))).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  expect(await rowsOf(order.userId)).toEqual(before);
});

it("rejects a signed body that isn't an event", async () => {
  for (const text of ["null", "[]", '"event"', "{}"]) {
    await expect(receive(Buffer.from(text))).rejects.toMatchObject({ reason: expect.stringMatching(/INVALID/) as string });
  }
});

it("returns the credits of a refund that fails later, in any order of events", async () => {
  const order = await beginCheckout();
  const { userId, payment } = order;
  const id = `re_${randomUUID()}`;
  await receive(completed(order));
  await receive(refund({ id, payment, amount: 1_000, status: "failed" }, "refund.failed"));
  await receive(refund({ id, payment, amount: 1_000, status: "pending" }, "refund.created"));
  expect(await balanceOf(userId)).toBe(1_000_000);
  expect(await rowsOf(userId)).toEqual({ [`stripe:${order.session}`]: 1_000_000 });
});

it("ignores inquiries, unpaid sessions, those of other sellers, and irrelevant events", async () => {
  const order = await beginCheckout();
  const { checkout: _, ...others } = order;
  expect(await receive(completed({ ...order, status: "unpaid" }))).toMatchObject({ outcome: "ignored" });
  expect(await receive(completed(others))).toMatchObject({ outcome: "ignored" });
  expect(await receive(eventOf("charge.succeeded", { id: "ch_1" }))).toMatchObject({ outcome: "ignored" });
  await receive(completed(order));
  await receive(dispute({ id: "dp_inquiry", payment: order.payment, amount: 1_000, status: "warning_needs_response" }));
  expect(await balanceOf(order.userId)).toBe(1_000_000);
});

it.each<[string, (order: Order, other: Order) => object, RegExp]>([
  ["another amount than was asked", () => ({ amount: 999 }), /999 cents were paid, not 1000/],
  ["another currency", () => ({ currency: "eur" }), /paid in eur, not in usd/],
  ["another account than the checkout's", (_, other) => ({ userId: other.userId }), /names another account/],
  ["an account that only its metadata name", (_, other) => ({ clientReference: other.userId }), /names another account/],
  ["a checkout that was never begun", () => ({ checkout: randomUUID() }), /no such checkout/],
])("rejects a paid session with %s, and credits nothing", async (_, change, problem) => {
  const [order, other] = [await beginCheckout(), await beginCheckout()];
  const receipt = await receive(completed({ ...order, ...change(order, other) }));
  expect(receipt).toMatchObject({ outcome: "refused", problem: expect.stringMatching(problem) as string, subject: order.session });
  for (const { userId } of [order, other]) expect(await rowsOf(userId)).toEqual({});
});

it.each<[string, (body: Buffer) => [Buffer, string]]>([
  ["is not signed", (body) => [body, ""]],
  ["is signed with another secret", (body) => [body, signatureOf(body, { secret: "whsec_other" })]],
  ["was changed after it was signed", (body) => [Buffer.from(body.toString().replace("1000", "1001")), signatureOf(body)]],
  ["was signed more than five minutes ago", (body) => [body, signatureOf(body, { ageSeconds: 301 })]],
])("rejects an event that %s", async (_, forge) => {
  const order = await beginCheckout();
  const [body, signature] = forge(completed(order));
  await expect(instances[0].receive(body, signature)).rejects.toMatchObject({ kind: "unauthenticated", reason: "SIGNATURE_INVALID" });
  expect(await rowsOf(order.userId)).toEqual({});
});

it("rejects events of the mode that its key isn't for, so that Stripe repeats them", async () => {
  const body = eventOf("charge.succeeded", { id: "ch_1" }, { livemode: true });
  await expect(receive(body)).rejects.toMatchObject({ reason: "INVALID_REQUEST", metadata: { issues: [{ path: "livemode" }] } });
});

it("returns an error for an event while the account can't be written, and credits it when it arrives again", async () => {
  const order = await beginCheckout();
  const book = (): Promise<never> => Promise.reject(new Error("the database is away"));
  const broken = createPayments({ store, billing: { book }, provider: { settings: SETTINGS, stripe }, logger });
  const body = completed(order);
  await expect(broken.receive(body, signatureOf(body))).rejects.toThrow("the database is away");
  await receive(body);
  expect(await balanceOf(order.userId)).toBe(1_000_000);
});

it("starts at most a hundred purchases of an account per day", async () => {
  const { userId, checkout } = await beginCheckout();
  for (let one = 1; one < BILLING_LIMITS.checkoutsPerDay; one += 1) await beginCheckout(userId);
  const order = { userId, email: "", credits: 1_000, successUrl: "http://a/b", cancelUrl: "http://a/b" };
  await expect(instances[0].checkout({ ...order, reference: "one-more" })).rejects.toMatchObject({ reason: "PRECONDITION_FAILED" });
  // A repeated reference isn't a new checkout. The URL of Stripe has no server here.
  await expect(away.checkout({ ...order, reference: checkout })).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
});

it("never returns the checkout of another account, or of another amount, for a reference", async () => {
  const { userId, checkout: reference } = await beginCheckout();
  const order = { userId, email: "", credits: 1_000, reference, successUrl: "http://a/b", cancelUrl: "http://a/b" };
  for (const other of [{ userId: `user-${randomUUID()}` }, { credits: 2_000 }]) {
    await expect(away.checkout({ ...order, ...other })).rejects.toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
  }
});

it("deletes checkouts, and refunds of others' sales, after 60 days, but never purchases", async () => {
  const order = await beginCheckout();
  await receive(completed(order));
  const others = { id: `re_${randomUUID()}`, payment: `pi_${randomUUID()}`, amount: 1_000, status: "succeeded" };
  await receive(refund(others));
  const removals = (days: number) => paymentRemovals(store, () => new Date(Date.now() + days * DAY_MS));
  await removals(59).checkouts!("");
  await removals(59).unclaimedPayments!("");
  expect(await store.findCheckout(order.checkout)).toBeDefined();
  expect(await store.findPayment(others.payment)).toBeDefined();
  await removals(61).checkouts!("");
  await removals(61).unclaimedPayments!("");
  expect(await store.findCheckout(order.checkout)).toBeUndefined();
  expect(await store.findPayment(others.payment)).toBeUndefined();
  expect(await receive(completed(order))).toMatchObject({ outcome: "taken" });
  expect(await balanceOf(order.userId)).toBe(1_000_000);
});

it("names the missing setting if nothing can be bought", async () => {
  const off = createPayments({ store, billing: billings[0], provider: undefined, logger });
  const order = { userId: "u", email: "", credits: 1_000, reference: "r", successUrl: "http://a/b", cancelUrl: "http://a/b" };
  expect(off.terms()).toBeUndefined();
  await expect(off.checkout(order)).rejects.toMatchObject({ reason: "NOT_CONFIGURED" });
  await expect(off.receive(Buffer.from("{}"), "")).rejects.toMatchObject({ reason: "NOT_CONFIGURED" });
});
