import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { accessibilityProblems } from "../../../gateway/test/e2e/support/browser";
import { edge, nodeAt } from "./support/canvas";
import { setStage, type Credentials } from "./support/stage";

/** `npm run drill console`: every page, in both themes, wide and narrow. Screenshots are left for eyes. */
const SCREENSHOTS = join(__dirname, "..", "..", "..", ".nodeloom", "screenshots");
const WIDTHS = [1440, 390] as const;
const THEMES = ["light", "dark"] as const;

const stage = setStage();
let account: Credentials;
let admin: Credentials;
let paths: [string, string][];

stage.before(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const { http } = stage;
  const made = await http.account({ tier: "business" });
  [account, admin] = [made, stage.platform.admin];
  const graph = {
    nodes: [
      nodeAt("input", "request-input", { x: 0, y: 0 }, { fields: [{ name: "prompt", type: "text", label: "Prompt", default: "a boat" }] }),
      nodeAt("image", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image", inputs: {} }),
      nodeAt("output", "response-output", { x: 680, y: 0 }),
    ],
    edges: [edge("input.prompt", "image.prompt"), edge("image.image", "output.images")],
  };
  const body = {
    name: "A workflow with a name that is longer than anything beside it has room for",
    tags: ["one", "two"],
    publicPlayground: true,
    ...graph,
  };
  const { slug } = (await http.call("POST", "/api/workflows", { key: made.key, body })).body as { slug: string };
  const run = await http.call("POST", `/api/workflows/${slug}/run`, { key: made.key, body: { inputs: {} } });
  paths = [
    ["dashboard", "/"],
    ["canvas", `/workflows/${slug}`],
    ["runs", "/executions"],
    ["run", `/executions/${run.headers.get("x-execution-id")}`],
    ["files", "/files"],
    ["usage", "/usage"],
    ["keys", "/keys"],
    ["secrets", "/secrets"],
    ["models", "/models"],
    ["model", "/models/sandbox-image"],
    ["account", "/account"],
    ["plans", "/plans"],
    ["balance", "/balance"],
    ["history", "/history"],
    ["playground", `/p/${slug}`],
    ["reset", "/reset-password"],
    ["kitchen", "/kitchen"],
    ...["users", "models", "tiers", "templates", "runs", "ledger", "audit"].map((section): [string, string] => [
      `admin-${section}`,
      `/admin/${section}`,
    ]),
  ];
});

/** 0 (black) to 1 (white), of what lies behind a page. */
const brightness = async (page: Page): Promise<number> =>
  Number(
    await page.evaluate(`(() => {
      const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number);
      return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
    })()`),
  );
const BRIGHT = 0.85;
const DARK = 0.2;

stage.test("shows the theme that was chosen, whatever the system's is, from the first paint on", async () => {
  for (const [chosen, system] of [
    ["Light", "dark"],
    ["Dark", "light"],
  ] as const) {
    const { page, context } = await stage.signedIn(account, { theme: system });
    await page.goto("/models");
    await page.getByRole("button", { name: account.email }).click();
    await page.getByRole("menuitem", { name: chosen }).click();
    // The page's own script has not run when the document is there.
    for (const load of ["reload", "goto"] as const) {
      if (load === "reload") await page.reload({ waitUntil: "commit" });
      else await page.goto("/usage", { waitUntil: "domcontentloaded" });
      await page.locator("html[data-theme]").waitFor({ state: "attached" });
      expect(await page.locator("html").getAttribute("data-theme")).toBe(chosen.toLowerCase());
    }
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const shade = await brightness(page);
    expect(chosen === "Light" ? shade > BRIGHT : shade < DARK).toBe(true);
    await context.close();
  }
});

describe.each(THEMES.flatMap((theme) => WIDTHS.map((width) => [theme, width] as const)))("every page, %s, %i px wide", (theme, width) => {
  stage.test("can be read by everybody, fits, and breaks no rule of its security policy", async () => {
    const problems: Record<string, string[]> = {};
    for (const user of [account, admin]) {
      const { page, context, complaints } = await stage.signedIn(user, { theme, width });
      for (const [name, path] of paths.filter(([one]) => one.startsWith("admin-") === (user === admin))) {
        await page.goto(path);
        await page.getByRole("heading", { level: 1 }).first().waitFor();
        await page.waitForLoadState("networkidle");
        await page.screenshot({ path: join(SCREENSHOTS, `${name}-${theme}-${width}.png`), animations: "disabled" });
        const found = await accessibilityProblems(page);
        const shade = await brightness(page);
        const tooWide = (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) as boolean;
        problems[path] = [...found, ...(tooWide ? ["wider than the window"] : []), ...complaints.splice(0)];
        if (theme === "light" ? shade < BRIGHT : shade > DARK) problems[path].push(`not ${theme}: its page has the brightness ${shade}`);
      }
      await context.close();
    }
    expect(Object.fromEntries(Object.entries(problems).filter(([, found]) => found.length > 0))).toEqual({});
  });
});
