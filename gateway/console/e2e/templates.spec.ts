import { expect, test } from "@playwright/test";
import { accessibilityProblems } from "../../../test-support/browser";
import { eventually, type Account } from "../../../test-support/client";
import { edge, NODE, nodeAt, nodes } from "./support/canvas";
import { handOf } from "./support/hand";
import { picturesOf } from "./support/picture";
import { setStage } from "./support/stage";

/** `npm run drill console`: templates, from the gallery to a result. */
const stage = setStage();
let author: Account;
let user: Account;
const graphOf = (photo: string) => ({
  nodes: [
    nodeAt(
      "in",
      "request-input",
      { x: 0, y: 0 },
      {
        fields: [
          { name: "subject", type: "text", label: "Subject", default: "a heron" },
          { name: "photo", type: "image_upload", label: "Photo", default: photo },
        ],
      },
    ),
    nodeAt("still", "generate-image", { x: 340, y: 0 }, { model: "sandbox-image" }),
    nodeAt("end", "response-output", { x: 680, y: 0 }),
  ],
  edges: [edge("in.subject", "still.prompt"), edge("in.photo", "still.image"), edge("still.image", "end.images")],
});
const NODES = graphOf("").nodes.length;
test.beforeAll(async () => {
  [author, user] = [await stage.http.account({ tier: "pro" }), await stage.http.account({ tier: "pro" })];
  const uploaded = await fetch(`${stage.platform.baseUrl}/api/media`, {
    method: "POST",
    headers: { "x-api-key": author.key!, "content-type": "image/png" },
    body: new Uint8Array(picturesOf(64, 64)(1)),
  });
  const { id } = (await uploaded.json()) as { id: string };
  for (const name of ["Herons", "Kites"]) {
    const body = { name, description: "A picture of it.", isTemplate: true, ...graphOf(id) };
    expect((await stage.http.call("POST", "/api/workflows", { key: author.key, body })).status).toBe(201);
  }
});

test("featured templates come first, and a template is three clicks from its result", async () => {
  const admin = await stage.signedIn(stage.platform.admin);
  await admin.page.goto("/admin/templates");
  const row = admin.page.getByRole("row").filter({ has: admin.page.getByRole("link", { name: "Kites" }) });
  await row.getByRole("button", { name: "Feature", exact: true }).click();
  await row.getByRole("button", { name: "Featured", exact: true }).waitFor();
  expect(await accessibilityProblems(admin.page)).toEqual([]);
  await admin.context.close();

  const { page, context, complaints } = await stage.signedIn(user);
  const hand = handOf(page);
  await page.goto("/");
  await hand.click(page.getByRole("link", { name: "Templates" }));
  const featured = page.getByRole("region", { name: "Featured" });
  await featured.getByRole("link", { name: "Kites" }).waitFor();
  expect(await featured.getByRole("link", { name: "Herons" }).count()).toBe(0);
  // A workflow without results shows its graph.
  await eventually(async () => (await featured.locator("svg.bg-board rect").count()) === 2 * NODES);
  expect(await accessibilityProblems(page)).toEqual([]);
  await hand.click(featured.getByRole("button", { name: "Use it" }));
  await nodes(page, NODES);
  expect(await page.getByLabel("Subject").inputValue()).toBe("a heron");
  // The photo was copied too: the node has no problem and shows its price.
  await page
    .locator(`${NODE}[data-id="still"]`)
    .getByText(/\d cr$/)
    .waitFor();
  expect(await page.getByRole("button", { name: /problem/ }).count()).toBe(0);
  await hand.click(page.getByTestId("run"));
  await page.locator(`${NODE}[data-id="still"] img`).waitFor();
  expect(hand.effort.clicks).toBe(3);
  await page.getByText("Completed", { exact: true }).first().waitFor();
  await page.goto("/");
  await page
    .locator("li", { has: page.getByRole("link", { name: "Kites" }) })
    .locator("img")
    .waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("a template is tried unchanged, and copied with the typed inputs; one that the plan can't run shows this before", async () => {
  const video = {
    nodes: [nodeAt("clip", "generate-video", { x: 0, y: 0 }, { model: "sandbox-video-pro", inputs: { prompt: "x" } })],
    edges: [],
  };
  const body = { name: "Films", isTemplate: true, ...video };
  expect((await stage.http.call("POST", "/api/workflows", { key: author.key, body })).status).toBe(201);
  const { page, context, complaints } = await stage.signedIn(user);
  await page.goto("/?show=templates");
  const card = (name: string) => page.locator("li", { has: page.getByRole("link", { name, exact: true }) });
  await card("Films").getByText("Can't run on your plan: it needs Business.").waitFor();
  expect(await card("Films").getByRole("button", { name: "Try it" }).count()).toBe(0);
  const own = async (): Promise<number> =>
    ((await stage.http.call("GET", "/api/workflows", { key: user.key })).body as unknown as { name: string; isTemplate: boolean }[]).filter(
      ({ name, isTemplate }) => name === "Herons" && !isTemplate,
    ).length;
  const before = await own();
  const runs = async (): Promise<number> =>
    ((await stage.http.call("GET", "/api/executions", { key: user.key })).body as { rows: unknown[] }).rows.length;
  await card("Herons").getByRole("button", { name: "Try it" }).click();
  await nodes(page, NODES);
  const completed = page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true });
  await completed.waitFor();
  const earlier = await runs();
  await page.getByText("The workflow's example file").waitFor();
  await page.getByRole("group", { name: "Photo" }).getByRole("img").waitFor();
  await page.getByLabel("Subject").fill("a crane");
  await page.getByTestId("run").click();
  await expect.poll(runs, { timeout: 60_000 }).toBe(earlier + 1);
  await completed.waitFor();
  expect(await own()).toBe(before);
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(await page.getByLabel("Subject").inputValue()).toBe("a crane");
  expect(await own()).toBe(before + 1);
  expect(complaints).toEqual([]);
  await context.close();
});
