import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { accessibilityProblems } from "../../../gateway/test/e2e/support/browser";
import { completedEvent, refundEvent, signatureOf, startStripeEnd, type StripeEnd } from "../../../gateway/test/support/stripe";
import { setStage, type Credentials } from "./support/stage";

/** `npm run drill console`: credits are bought where that is set up, and what became of it is seen. */
const SCREENSHOTS = join(__dirname, "..", "..", "..", ".nodeloom", "screenshots");
const PAYMENT = "pi_of_the_drill";

let stripe: StripeEnd;
const stage = setStage(async () => {
  stripe = await startStripeEnd({ sells: true });
  return { env: stripe.env };
});
let buyer: Credentials;
stage.before(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  buyer = await stage.http.account({ tier: "pro" });
});
afterAll(() => stripe?.stop());

const send = async (body: string): Promise<void> => {
  const headers = { "content-type": "application/json", "stripe-signature": signatureOf(body) };
  const answer = await fetch(`${stage.platform.baseUrl}/api/billing/events`, { method: "POST", headers, body });
  expect(await answer.json()).toEqual({ outcome: "taken" });
};

stage.test("credits are chosen, paid at Stripe's page, and there once Stripe says so", async () => {
  const { page, context } = await stage.signedIn(buyer);
  await page.goto("/balance");
  await page.getByLabel("Credits", { exact: true }).fill("499");
  await page.getByText("A whole number from 500 to 100,000.").waitFor();
  await page.getByLabel("Credits", { exact: true }).fill("2000");
  await page.getByRole("button", { name: "Pay $20.00 with Stripe" }).click();
  await page.waitForURL(/\/pay\//);
  const asked = stripe.asked.at(-1)!;
  expect(asked).toMatchObject({ amount: 2_000 });

  await page.goto(asked.successUrl.replace("{CHECKOUT_SESSION_ID}", asked.session));
  await page.getByText("Stripe has your payment").waitFor();
  await send(completedEvent({ ...asked, payment: PAYMENT }));
  await page.getByText("2,000 credits are in your account.").waitFor();
  await send(refundEvent("re_of_the_drill", { payment: PAYMENT }, 500));

  await page.goto("/history");
  await page.getByLabel("Kind").selectOption({ label: "Paid back or corrected" });
  await page.getByRole("cell", { name: "-500" }).waitFor();
  expect(await page.getByRole("cell", { name: "2,000", exact: true }).count()).toBe(0);
  await context.close();
});

describe.each(["light", "dark"].flatMap((theme) => [1440, 390].map((width) => [theme as "light" | "dark", width] as const)))(
  "where credits are sold, %s, %i px wide",
  (theme, width) => {
    stage.test("plans, balance and history can be read by everybody, and fit", async () => {
      const { page, context, complaints } = await stage.signedIn(buyer, { theme, width });
      const problems: string[] = [];
      for (const name of ["plans", "balance", "history"]) {
        await page.goto(`/${name}`);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        await page.waitForLoadState("networkidle");
        await page.screenshot({ path: join(SCREENSHOTS, `sold-${name}-${theme}-${width}.png`), animations: "disabled", fullPage: true });
        const tooWide = (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) as boolean;
        problems.push(...(await accessibilityProblems(page)), ...(tooWide ? [`${name} is wider than the window`] : []));
      }
      expect([...problems, ...complaints]).toEqual([]);
      await context.close();
    });
  },
);
