import { test, type Browser } from "@playwright/test";
import { visit, type Visitor, type VisitorOptions } from "../../../../test-support/browser";
import { clientOf } from "../../../../test-support/client";
import { startPlatform, type Platform, type PlatformOptions } from "../../../../test-support/platform";

export interface Credentials {
  email: string;
  password: string;
}
type Look = Omit<VisitorOptions, "baseUrl">;

/** A platform and a browser, started once per test file. */
export interface Stage {
  readonly platform: Platform;
  readonly http: ReturnType<typeof clientOf>;
  /** A window of the console in the project's theme and width. */
  visit(options?: Look): Promise<Visitor>;
  /** A window of the console with a signed-in user. */
  signedIn(user: Credentials, options?: Look): Promise<Visitor>;
}

/** @param optionsOf creates the platform's options before it starts */
export const setStage = (optionsOf: () => Promise<PlatformOptions> = () => Promise.resolve({})): Stage => {
  let browser: Browser;
  let look: Look = {};
  let platform: Platform;
  let http: ReturnType<typeof clientOf>;
  test.beforeAll(async ({ browser: started }, { project: { use } }) => {
    browser = started;
    look = { ...use.viewport, ...(use.colorScheme === "dark" && { theme: "dark" }) };
    platform = await startPlatform(await optionsOf());
    http = clientOf(platform);
  });
  test.afterAll(() => platform?.stop());
  const open: Stage["visit"] = (options) => visit(browser, { baseUrl: platform.baseUrl, ...look, ...options });
  return {
    get platform() {
      return platform;
    },
    get http() {
      return http;
    },
    visit: open,
    signedIn: async ({ email, password }, options) => {
      const visitor = await open(options);
      const headers = { origin: platform.baseUrl };
      const answer = await visitor.context.request.post("/api/auth/login", { data: { email, password }, headers });
      if (!answer.ok()) throw new Error(`${email} could not sign in: ${answer.status()}`);
      return visitor;
    },
  };
};
