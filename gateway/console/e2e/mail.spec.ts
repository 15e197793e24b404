import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems, type VisitorOptions } from "../../../gateway/test/e2e/support/browser";
import { call } from "../../../gateway/test/e2e/support/client";
import { eventually } from "../../../services/platform/test/support/eventually";
import { startMailServer, type MailServer } from "../../../services/notifications/test/mail/mail-server";
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
