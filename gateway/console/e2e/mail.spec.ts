import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems, type VisitorOptions } from "../../../test-support/browser";
import { call } from "../../../test-support/client";
import { eventually } from "../../../test-support/eventually";
import { startMailServer, type MailServer } from "../../../test-support/mail-server";
import { setStage } from "./support/stage";

/** `npm run drill console`: emails and their links, by the texts on the screen. */

let mails: MailServer;
const stage = setStage(async () => {
  mails = await startMailServer();
  const env = { SMTP_URL: `smtp://127.0.0.1:${mails.port}`, SMTP_TLS: "optional", MAIL_FROM: "Nodeloom <mail@example.com>" };
  return { env };
});
test.afterAll(() => mails?.stop());

const NEXT = "a loom of many colours";
const LOOKS: readonly Pick<VisitorOptions, "width" | "theme">[] = [
  { width: 1440, theme: "light" },
  { width: 1440, theme: "dark" },
  { width: 390, theme: "light" },
  { width: 390, theme: "dark" },
];

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
/** Address of a page that an email links to, with the part after `#`. */
const linkTo = (email: string, page: string): Promise<string> => {
  const link = new RegExp(`/${page}#token=[\\w.%-]+`);
  const mailLink = (): string | undefined =>
    mails.received
      .filter(({ to }) => to.includes(email))
      .flatMap(({ text }) => link.exec(text.replace(/=\r\n/g, "").replace(/=3D/g, "="))?.slice(0, 1) ?? [])
      .at(-1);
  return eventually(mailLink, (path) => path !== undefined) as Promise<string>;
};

/**
 * Saves a screenshot in the folder `PICTURES`, if set.
 * @returns problems of the page in its current state
 */
const look = async (page: Page, name: string): Promise<string[]> => {
  const { PICTURES } = process.env;
  const complaintsFound: string[] = [];
  for (const { width = 0, theme = "light" } of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme });
    // Colours fade between themes after the page has switched.
    await page.locator(`html[data-theme="${theme}"]`).waitFor({ state: "attached" });
    await page.evaluate("Promise.allSettled(document.getAnimations().map(({ finished }) => finished))");
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}-${width}-${theme}.png`, fullPage: true });
    complaintsFound.push(...(await accessibilityProblems(page)).map((problem) => `${name} ${width} ${theme}: ${problem}`));
    const overflows = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
    if (overflows === true) complaintsFound.push(`${name} ${width} ${theme}: is wider than the screen`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  return complaintsFound;
};

test("a user who forgot the password gets a link by email, sets a new password and signs in with it", async () => {
  const { email } = await stage.http.account({ tier: "pro", capabilities: null });
  const { page, context, complaints } = await stage.visit();
  const problems: string[] = [];
  await page.goto("/");
  await page.getByRole("link", { name: "Forgot your password?" }).waitFor();
  problems.push(...(await look(page, "sign-in")));
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByRole("heading", { name: "Forgot your password?" }).waitFor();
  problems.push(...(await look(page, "forgot")));
  await page.getByLabel("Email").fill(email);
  await button(page, "Send link").click();
  await page.getByText("Check your email").waitFor();
  problems.push(...(await look(page, "forgot-sent")));
  await page.goto(await linkTo(email, "reset-password"));
  await page.getByLabel("New password").fill(NEXT);
  await button(page, "Set password").click();
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(NEXT);
  await button(page, "Sign in").click();
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  expect([problems, complaints]).toEqual([[], []]);
  await context.close();
});

test("a user confirms the address, turns one notice off in the console, and another by the link in the email", async () => {
  const account = await stage.http.account({ tier: "pro", capabilities: null });
  const { page, context, complaints } = await stage.signedIn(account);
  const problems: string[] = [];
  await page.goto("/");
  await page.getByText("Confirm your email address").waitFor();
  problems.push(...(await look(page, "unconfirmed")));
  await page.goto("/account");
  await page.getByLabel("Low credits").waitFor();
  problems.push(...(await look(page, "account-unconfirmed")));
  await page.goto(await linkTo(account.email, "verify-address"));
  await button(page, "Confirm email address").waitFor();
  problems.push(...(await look(page, "verify")));
  await button(page, "Confirm email address").click();
  await page.getByText("Email address confirmed").waitFor();
  await page.goto("/account");
  await page.getByText(`${account.email} confirmed`).waitFor();
  await page.getByLabel("Low credits").click();
  await page.getByText("Saved.").waitFor();
  problems.push(...(await look(page, "account-confirmed")));
  const settings = async () => (await call(stage.platform.baseUrl, "GET", "/api/me/mail", { cookie: account.cookie })).body.notices;
  expect(await settings()).toEqual({ lowCredits: false, budgetAlerts: true, retiringModels: true });
  await page.goto("/unsubscribe#token=nonsense");
  await button(page, "Unsubscribe").click();
  await page.getByText("this link is unknown").waitFor();
  problems.push(...(await look(page, "unsubscribe")));
  expect([problems, complaints]).toEqual([[], []]);
  await context.close();
});

test("an approver without an account opens the mailed link, looks at the picture, and approves it with a comment", async () => {
  const account = await stage.http.account({ tier: "business" });
  const legal = "legal@example.com";
  const inputs = { prompt: "a paper boat on a calm lake" };
  const review = { title: "Send the picture to the printer?", instructions: "Check that no logo is in it.", approvers: [legal] };
  const nodes = [
    { id: "draw", type: "generate-image", data: { model: "sandbox-image-fast", inputs } },
    { id: "ok", type: "approval", data: review },
    { id: "out", type: "response-output", data: {} },
  ];
  const edge = (source: string, sourceHandle: string, target: string, targetHandle: string) => ({
    ...{ id: `${source}-${target}`, source, sourceHandle, target, targetHandle },
  });
  const body = { name: "Campaign", nodes, edges: [edge("draw", "image", "ok", "value"), edge("ok", "approved", "out", "image")] };
  const post = (path: string, sentBody: unknown) => call(stage.platform.baseUrl, "POST", path, { cookie: account.cookie, body: sentBody });
  const { slug } = (await post("/api/workflows", body)).body as { slug: string };
  await post(`/api/workflows/${slug}/versions`, {});
  const { executionId } = (await post(`/api/workflows/${slug}/run`, { inputs: {} })).body as { executionId: string };

  const { page, context, complaints } = await stage.visit();
  const problems: string[] = [];
  const link = await linkTo(legal, "decide");
  await page.goto(link);
  await page.getByRole("heading", { name: review.title }).waitFor();
  await page.getByText(review.instructions).waitFor();
  await page.getByRole("img").first().waitFor();
  await expect
    .poll(() => page.evaluate("[...document.images].every(({ complete, naturalWidth }) => complete && naturalWidth > 0)"))
    .toBe(true);
  problems.push(...(await look(page, "decide")));
  await page.getByLabel("Comment (optional)").fill("No logo in it.");
  await button(page, "Approve").click();
  await page.getByText("Your decision is recorded").waitFor();
  problems.push(...(await look(page, "decided")));
  await page.reload();
  await page.getByText("This link is spent").waitFor();
  problems.push(...(await look(page, "link-spent")));
  await page.goto("/decide#token=nonsense");
  await page.reload();
  await page.getByText("this link is unknown").waitFor();
  problems.push(...(await look(page, "link-unknown")));
  expect([problems, complaints.filter((text) => !text.includes("404"))]).toEqual([[], []]);
  await context.close();

  const owner = await stage.signedIn(account);
  await owner.page.goto(`/executions/${executionId}`);
  await owner.page.getByText(`Approved by ${legal}, by a mailed link`).waitFor();
  await owner.context.close();
});
