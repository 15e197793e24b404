import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";
import chromium from "@sparticuz/chromium";

const MINUTE_MS = 60_000;
const KNOWN = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** A Chromium of this machine: CHROMIUM_PATH, the one that npm brought (linux x64), or an installed one. */
const findChromium = async () => {
  const { CHROMIUM_PATH } = process.env;
  if (CHROMIUM_PATH !== undefined) return CHROMIUM_PATH;
  if (process.platform === "linux" && process.arch === "x64") return chromium.executablePath();
  return KNOWN.find((path) => existsSync(path));
};
const executablePath = await findChromium();

/** Tests of how pages look run in each project; the others in the first one alone. */
const EVERY_LOOK = /@every-look/;
const THEMES = /** @type {const} */ (["light", "dark"]);
const WIDTHS = [1440, 390];
const YEAR = "**/year.spec.ts";

export default defineConfig({
  testDir: "e2e",
  globalSetup: "../../deploy/local/checks/jest-global-setup.cjs",
  globalTeardown: "../../deploy/local/checks/jest-global-teardown.cjs",
  // Each file starts a platform of its own.
  workers: 1,
  timeout: 15 * MINUTE_MS,
  forbidOnly: true,
  reporter: "list",
  outputDir: "../../.nodeloom/e2e",
  use: {
    locale: "en-US",
    launchOptions: {
      ...(executablePath !== undefined && { executablePath }),
      args: ["--no-sandbox", "--headless=shell", "--disable-gpu", "--no-zygote"],
    },
  },
  projects: [
    ...THEMES.flatMap((colorScheme) =>
      WIDTHS.map((width) => ({
        name: `${colorScheme}-${width}`,
        testIgnore: YEAR,
        ...(colorScheme === "light" && width === WIDTHS[0] ? {} : { grep: EVERY_LOOK }),
        use: { colorScheme, viewport: { width, height: 900 } },
      })),
    ),
    { name: "year", testMatch: YEAR },
  ],
});
