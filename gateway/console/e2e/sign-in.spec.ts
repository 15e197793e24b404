import { expect, test, type Page } from "@playwright/test";
import { codeOf } from "../../../test-support/authenticator";
import { startProvider, type TestProvider } from "../../../test-support/oidc-provider";
import { setStage } from "./support/stage";

/** `npm run drill console`: sign-in with a second factor, and through a provider, by the texts on the screen. */

let provider: TestProvider;
const stage = setStage(async () => {
  provider = await startProvider();
  return {
    env: {
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: provider.clientId,
      OIDC_CLIENT_SECRET: provider.clientSecret,
      OIDC_NAME: "Example",
    },
  };
});
test.afterAll(() => provider?.stop());

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const signIn = async (page: Page, { email, password }: { email: string; password: string }): Promise<void> => {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await button(page, "Sign in").click();
};
/** Saves a screenshot in the folder `PICTURES`, if set. */
const picture = async (page: Page, name: string): Promise<void> => {
  const { PICTURES } = process.env;
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
};

test("a user turns a second factor on, signs in with it and turns it off", async () => {
  const account = await stage.http.account({ tier: "pro", capabilities: null });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto("/account");
  const dialog = page.getByRole("dialog");
  await button(page, "Turn on").click();
  await dialog.getByLabel("Password").fill(account.password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByRole("img", { name: "QR code of the secret" }).waitFor();
  const secret = await dialog.getByRole("region", { name: "Secret" }).innerText();
  await picture(page, "second-factor-secret");
  await dialog.getByLabel("Code").fill(codeOf(secret.trim()));
  await dialog.getByRole("button", { name: "Turn on" }).click();
  const codes = (await dialog.getByRole("region", { name: "Recovery codes" }).innerText()).trim().split(/\s+/);
  expect(codes).toHaveLength(10);
  await picture(page, "second-factor-codes");
  await dialog.getByRole("button", { name: "I saved them" }).click();
  await page.getByText("10 recovery codes left.").waitFor();
  await picture(page, "account");
  await context.clearCookies();

  await page.goto("/account");
  await signIn(page, account);
  await page.getByLabel("Code").fill("000 000");
  await button(page, "Sign in").click();
  await page.getByText("the code is wrong").waitFor();
  await picture(page, "sign-in-code");
  await page.getByLabel("Code").fill(codes[0]!.toUpperCase());
  await button(page, "Sign in").click();
  await button(page, "Turn off").click();
  await dialog.getByLabel("Password").fill(account.password);
  await dialog.getByLabel("Code").fill(codes[1]!);
  await dialog.getByRole("button", { name: "Turn off" }).click();
  await button(page, "Turn on").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("a user signs in through the provider, or gets the reason of a failure", async () => {
  const email = "ada@example.com";
  await provider.become({ sub: "ada", claims: { email, email_verified: false } });
  const { page, context } = await stage.visit();
  await page.goto("/account");
  await page.getByLabel("Email").waitFor();
  await picture(page, "sign-in");
  await page.getByRole("link", { name: "Sign in with Example" }).click();
  await page.getByText("Your provider hasn't verified your email address.").waitFor();
  expect(page.url()).not.toContain("#");
  await provider.become({ sub: "ada", claims: { email, email_verified: true } });
  await page.getByRole("link", { name: "Sign in with Example" }).click();
  await page.getByText(email).first().waitFor();
  await page.goto("/account");
  await page.getByText(/^Linked .+/).waitFor();
  await picture(page, "account-of-provider");
  await context.close();
});
