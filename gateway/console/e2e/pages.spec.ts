import { expect, test } from "@playwright/test";
import { edge, nodeAt } from "./support/canvas";
import { EVERY_LOOK, isDark, isLight, lookProblems } from "./support/looks";
import { setStage, type Credentials } from "./support/stage";

/** `npm run drill console`: every page, in both themes, wide and narrow. */
const SECTIONS = ["users", "organizations", "models", "tasks", "tiers", "templates", "runs", "moderation", "ledger", "audit"];

const stage = setStage();
let account: Credentials;
let admin: Credentials;
let paths: string[];

test.beforeAll(async () => {
  const { http } = stage;
  const newAccount = await http.account({ tier: "business" });
  [account, admin] = [newAccount, stage.platform.admin];
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
  const { slug } = (await http.call("POST", "/api/workflows", { key: newAccount.key, body })).body as { slug: string };
  const run = await http.call("POST", `/api/workflows/${slug}/run`, { key: newAccount.key, body: { inputs: {} } });
  const keys = (await http.call("GET", "/api/keys", { cookie: newAccount.cookie })).body as unknown as { id: string }[];
  paths = [
    `/workflows/${slug}`,
    `/workflows/${slug}/triggers`,
    `/executions/${run.headers.get("x-execution-id")}`,
    "/models/sandbox-image",
    "/account",
    "/plans",
    "/balance",
    "/history",
    "/organizations",
    "/service-accounts",
    "/erasures",
    `/keys/${keys.at(0)!.id}`,
    `/p/${slug}`,
    "/reset-password",
    "/verify",
    "/kitchen",
  ];
});

test("shows the chosen theme from the first paint on, whatever the system's theme is", async () => {
  for (const [theme, system] of [
    ["Light", "dark"],
    ["Dark", "light"],
  ] as const) {
    const { page, context } = await stage.signedIn(account, { theme: system });
    await page.goto("/models");
    await page.getByRole("button", { name: account.email }).click();
    await page.getByRole("menuitem", { name: theme }).click();
    // The page's script hasn't run yet when the document is loaded.
    for (const load of ["reload", "goto"] as const) {
      if (load === "reload") await page.reload({ waitUntil: "commit" });
      else await page.goto("/usage", { waitUntil: "domcontentloaded" });
      await page.locator("html[data-theme]").waitFor({ state: "attached" });
      expect(await page.locator("html").getAttribute("data-theme")).toBe(theme.toLowerCase());
    }
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    expect(await (theme === "Light" ? isLight(page) : isDark(page))).toBe(true);
    await context.close();
  }
});

test("every page is accessible, fits, and violates no rule of its security policy", EVERY_LOOK, async () => {
  for (const user of [account, admin]) {
    const visitor = await stage.signedIn(user);
    await visitor.page.goto("/");
    await visitor.page.getByRole("heading", { level: 1 }).waitFor();
    // Pages in the menu are visited without being listed here.
    const links = await visitor.page
      .locator("nav[aria-label=Main] a")
      .evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? "/"));
    const visited = user === admin ? SECTIONS.map((section) => `/admin/${section}`) : [...new Set([...links, ...paths])];
    expect(await lookProblems(visitor, visited)).toEqual({});
    await visitor.context.close();
  }
});
