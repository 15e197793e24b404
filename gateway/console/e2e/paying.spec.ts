import { expect, test } from "@playwright/test";
import { completedEvent, refundEvent, signatureOf, startStripeEnd, type StripeEnd } from "../../../test-support/stripe";
import { EVERY_LOOK, lookProblems } from "./support/looks";
import { setStage, type Credentials } from "./support/stage";

/** `npm run drill console`: buying credits where payments are set up, and the result on the screen. */
const PAYMENT = "pi_of_the_drill";

let stripe: StripeEnd;
const stage = setStage(async () => {
  stripe = await startStripeEnd({ sells: true });
  return { env: stripe.env };
});
let buyer: Credentials;
test.beforeAll(async () => {
  buyer = await stage.http.account({ tier: "pro" });
});
test.afterAll(() => stripe?.stop());

const send = async (body: string): Promise<void> => {
  const headers = { "content-type": "application/json", "stripe-signature": signatureOf(body) };
  const answer = await fetch(`${stage.platform.baseUrl}/api/billing/events`, { method: "POST", headers, body });
  expect(await answer.json()).toEqual({ outcome: "taken" });
};

test("credits are chosen, paid on Stripe's page, and credited once Stripe confirms", async () => {
  const { page, context } = await stage.signedIn(buyer);
  await page.goto("/balance");
  await page.getByLabel("Credits", { exact: true }).fill("499");
  await page.getByText("Enter a whole number from 500 to 100,000.").waitFor();
  await page.getByLabel("Credits", { exact: true }).fill("2000");
  await page.getByRole("button", { name: "Pay $20.00 with Stripe" }).click();
  await page.waitForURL(/\/pay\//);
  const checkout = stripe.checkouts.at(-1)!;
  expect(checkout).toMatchObject({ amount: 2_000 });

  await page.goto(checkout.successUrl.replace("{CHECKOUT_SESSION_ID}", checkout.session));
  await page.getByText("Stripe received your payment").waitFor();
  await send(completedEvent({ ...checkout, payment: PAYMENT }));
  await page.getByText("2,000 credits were added to your account.").waitFor();
  await send(refundEvent("re_of_the_drill", { payment: PAYMENT }, 500));

  await page.goto("/history");
  await page.getByLabel("Type").selectOption({ label: "Refunds and corrections" });
  await page.getByRole("cell", { name: "-500" }).waitFor();
  expect(await page.getByRole("cell", { name: "2,000", exact: true }).count()).toBe(0);
  await context.close();
});

test("if credits are sold, plans, balance and history are accessible and fit", EVERY_LOOK, async () => {
  const visitor = await stage.signedIn(buyer);
  expect(await lookProblems(visitor, ["/plans", "/balance", "/history"])).toEqual({});
  await visitor.context.close();
});
