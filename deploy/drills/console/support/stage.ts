import type { Browser } from "playwright-core";
import { launchBrowser, visit, type Visitor, type VisitorOptions } from "../../../../gateway/test/e2e/support/browser";
import { clientOf } from "../../../../gateway/test/e2e/support/client";
import { startPlatform, type Platform, type PlatformOptions } from "../../../../gateway/test/e2e/support/platform";

const MINUTES = 15;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
/** For a test in a browser, and for what is set up before it. */
const PATIENCE_MS = MINUTES * MINUTE_MS;

export interface Credentials {
  email: string;
  password: string;
}

/** A platform and a browser, started once for the tests of a file. */
export interface Stage {
  readonly platform: Platform;
  readonly http: ReturnType<typeof clientOf>;
  /** A window of the console. */
  visit(options?: Omit<VisitorOptions, "baseUrl">): Promise<Visitor>;
  /** A window of the console of somebody who is signed in. */
  signedIn(user: Credentials, options?: Omit<VisitorOptions, "baseUrl">): Promise<Visitor>;
  /** What is set up before the tests of a file. */
  before(prepare: () => Promise<void>, patienceMs?: number): void;
  test(name: string, body: () => Promise<void>): void;
}

/** @param optionsOf of the platform; made before it starts */
export const setStage = (optionsOf: () => Promise<PlatformOptions> = () => Promise.resolve({})): Stage => {
  let browser: Browser;
  let platform: Platform;
  let http: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    browser = await launchBrowser();
    platform = await startPlatform(await optionsOf());
    http = clientOf(platform);
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser?.close();
    await platform?.stop();
  });
  const open: Stage["visit"] = (options) => visit(browser, { baseUrl: platform.baseUrl, ...options });
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
    before: (prepare, patienceMs = PATIENCE_MS) => beforeAll(prepare, patienceMs),
    test: (name, body) =>
      it(
        name,
        async () => {
          const from = Date.now();
          await body();
          // Jest says nothing before the last test of a file.
          process.stdout.write(`passed in ${Math.round((Date.now() - from) / SECOND_MS)} s: ${name}\n`);
        },
        PATIENCE_MS,
      ),
  };
};
