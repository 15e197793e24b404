import { expect, test } from "@playwright/test";
import { accessibilityProblems } from "../../../test-support/browser";
import { edge, nodeAt } from "./support/canvas";
import { setStage } from "./support/stage";

/** `npm run drill console`: the models page, from a provider's key to a node that uses the best available model. */
const VALUE = "a-key-of-fal-for-this-journey";

const stage = setStage(() => Promise.resolve({ env: { FAL_KEY: "", OPENAI_API_KEY: "" } }));

test("a key that an administrator adds makes its models ready, and removing it reverts this", async () => {
  const { page, complaints } = await stage.signedIn(stage.platform.admin);
  await page.goto("/models");
  const card = page.getByRole("listitem").filter({ has: page.getByText("needs an API key", { exact: false }) });
  const flux = card.filter({ has: page.getByRole("link", { name: /flux/i }) }).first();
  const name = (await flux.getByRole("link").innerText()).trim();
  await flux.getByRole("button", { name: "Add API key" }).click();
  const dialog = page.getByRole("dialog", { name: "API key for fal" });
  await dialog.getByLabel("FAL_KEY").fill(VALUE);
  await dialog.getByRole("button", { name: "Add key" }).click();
  await dialog.getByText("API key saved").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press("Escape");
  const same = page.getByRole("listitem").filter({ has: page.getByRole("link", { name, exact: true }) });
  await same.getByText("Ready", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Provider API keys" }).click();
  const list = page.getByRole("dialog", { name: "Provider API keys" });
  await list.getByText("…rney").waitFor();
  expect(await page.content()).not.toContain(VALUE);
  expect(await accessibilityProblems(page)).toEqual([]);
  await list.getByRole("button", { name: "Open the key for fal" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await dialog.getByText("No key is set", { exact: false }).waitFor();
  await page.keyboard.press("Escape");
  await same.getByText("Needs an API key", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test("models are found by output, by location and by readiness", async () => {
  const user = await stage.http.account({ tier: "pro" });
  const { page, complaints } = await stage.signedIn(user);
  await page.goto("/models");
  await page.getByRole("heading", { name: /^Images/ }).waitFor();
  expect(await page.getByRole("button", { name: "Add API key" }).count()).toBe(0);
  await page.getByLabel("Type").selectOption("Video");
  expect(await page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual([expect.stringMatching(/^Video/)]);
  await page.getByLabel("Search models").fill("nothing like this");
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByLabel("Runs at").selectOption("Sandbox (no AI)");
  await page.getByRole("link", { name: "Sandbox image", exact: false }).first().click();
  await page.getByRole("heading", { name: "Inputs" }).waitFor();
  await page.getByText("auto:image", { exact: false }).first().waitFor();
  expect(complaints).toEqual([]);
});

test("a node uses the best ready model and has that model's ports", async () => {
  const user = await stage.http.account({ tier: "pro" });
  const nodes = [nodeAt("image", "generate-image", { x: 0, y: 0 }, { inputs: { prompt: "a kite" } })];
  const reply = await stage.http.call("POST", "/api/workflows", { key: user.key, body: { name: "Kites", nodes, edges: [] } });
  const { slug } = reply.body as { slug: string };
  const { page, complaints } = await stage.signedIn(user);
  await page.goto(`/workflows/${slug}`);
  await page.locator('[data-id="image"]').click();
  await page.getByLabel("Model", { exact: true }).selectOption("auto:image");
  await page.getByLabel("Prompt", { exact: false }).first().waitFor();
  const quote = async (): Promise<unknown> =>
    (
      (await stage.http.call("POST", `/api/workflows/${slug}/quote`, { key: user.key, body: { inputs: {} } })).body as {
        nodes?: { model: string }[];
      }
    ).nodes?.[0]?.model;
  for (let looks = 0; looks < 100 && (await quote()) === undefined; looks += 1) await page.waitForTimeout(100);
  expect(await quote()).toBe("sandbox-image");
  expect(complaints).toEqual([]);
});

test("a node prefers the cheapest allowed model; the price and the run say which one it is, and why", async () => {
  const user = await stage.http.account({ tier: "pro" });
  const inputs = { prompt: "a kite", sandbox: { latencyMs: 10 } };
  const nodes = [
    nodeAt("image", "generate-image", { x: 0, y: 0 }, { model: "auto:image", inputs }),
    nodeAt("out", "response-output", { x: 400, y: 0 }),
  ];
  const edges = [edge("image.image", "out.images")];
  const created = await stage.http.call("POST", "/api/workflows", { key: user.key, body: { name: "Kites", nodes, edges } });
  const { slug } = created.body as { slug: string };
  const { page, complaints } = await stage.signedIn(user);
  await page.goto(`/workflows/${slug}`);
  await page.locator('[data-id="image"]').click();
  await page.getByLabel("Prefer", { exact: true }).selectOption("Cheapest");
  await page.getByText("Limits", { exact: true }).click();
  const limit = page.getByLabel("Most credits per call", { exact: true });
  await limit.fill("two");
  await page.getByText("a number", { exact: false }).first().waitFor();
  await limit.fill("2");
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("tab", { name: "Run" }).click();
  await page.getByText("sandbox-image-fast, the only one that can run", { exact: false }).click();
  await page.getByRole("cell", { name: /more than maxCredits \(2\)/ }).waitFor();
  await page.getByTestId("run").click();
  await page.getByRole("link", { name: "Open run" }).click();
  await page.getByText("sandbox-image-fast, the only one that can run", { exact: false }).click();
  await page.getByRole("rowheader", { name: "sandbox-image", exact: true }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test("while only the sandbox draws, a run says so, and one click opens the form for a key or a server", async () => {
  const { admin } = stage.platform;
  const nodes = [
    nodeAt("image", "generate-image", { x: 0, y: 0 }, { model: "auto:image", inputs: { prompt: "a kite" } }),
    nodeAt("out", "response-output", { x: 400, y: 0 }),
  ];
  const edges = [edge("image.image", "out.images")];
  const reply = await stage.http.asAdmin("POST", "/api/workflows", { name: "First kite", nodes, edges });
  const { page, complaints } = await stage.signedIn(admin);
  await page.goto(`/workflows/${(reply.body as { slug: string }).slug}`);
  await page.getByTestId("run-now").click();
  await page.getByText("Drawn by the sandbox", { exact: false }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("link", { name: "Add a provider's API key" }).click();
  await page.getByRole("dialog", { name: "Provider API keys" }).waitFor();
  await page.goBack();
  await page.getByRole("tab", { name: "Run" }).click();
  await page.getByRole("link", { name: "Connect your ComfyUI server" }).click();
  await page.getByRole("dialog", { name: "Add server" }).waitFor();
  await page.goBack();
  await page.getByRole("tab", { name: "Run" }).click();
  await page.getByRole("region", { name: "Run" }).getByRole("button", { name: "Close" }).click();
  await page.reload();
  await page.getByRole("tab", { name: "Run" }).click();
  await page.getByRole("button", { name: "Show the last run" }).click();
  await page.getByRole("region", { name: "Run" }).getByRole("img").first().waitFor();
  expect(await page.getByText("Drawn by the sandbox", { exact: false }).count()).toBe(0);
  expect(complaints).toEqual([]);
});
