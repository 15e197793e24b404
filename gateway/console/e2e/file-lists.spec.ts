import { expect, test, type Page } from "@playwright/test";
import { accessibilityProblems } from "../../../test-support/browser";
import type { Account } from "../../../test-support/client";
import { edge, NODE, nodeAt, nodes } from "./support/canvas";
import { picturesOf } from "./support/picture";
import { setStage } from "./support/stage";

/** `npm run drill console`: an input for a list of files. */
const stage = setStage();
const PHONE = { width: 390, height: 844, theme: "dark" } as const;
const SIZE = 64;
const pictureOf = picturesOf(SIZE, SIZE);
const file = (name: string, number: number) => ({ name: `${name}.png`, mimeType: "image/png", buffer: Buffer.from(pictureOf(number)) });

let account: Account;
let slug: string;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "pro" });
  const fields = [{ name: "photos", type: "image_upload", label: "Photos", multiple: true, maxItems: 5 }];
  const body = {
    name: "Album",
    nodes: [nodeAt("in", "request-input", { x: 0, y: 0 }, { fields }), nodeAt("end", "response-output", { x: 340, y: 0 })],
    edges: [edge("in.photos", "end.images")],
  };
  slug = String((await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body.slug);
});

const list = (page: Page) => page.getByRole("group", { name: "Photos" });
const names = (page: Page): Promise<string[]> =>
  list(page)
    .locator("[data-item]")
    .evaluateAll((items) => items.map((item) => item.getAttribute("aria-label")!.split(".")[0]!));
const shows = (page: Page, expected: readonly string[]): Promise<void> => expect.poll(() => names(page)).toEqual(expected);

/** Drops a file on the list, as from the desktop. */
const dropOn = async (page: Page, name: string, number: number): Promise<void> => {
  const bytes = [...pictureOf(number)];
  const transfer = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(${JSON.stringify(bytes)})], "${name}.png", { type: "image/png" })); return data; })()`,
  );
  await list(page).locator("[data-drop]").dispatchEvent("drop", { dataTransfer: transfer });
};

test("the first own file replaces a workflow's examples", async () => {
  const examples = await Promise.all(
    [7, 8].map(async (number) => {
      const headers = { "x-api-key": account.key!, "content-type": "image/png" };
      const answer = await fetch(`${stage.platform.baseUrl}/api/media`, {
        method: "POST",
        headers,
        body: new Uint8Array(pictureOf(number)),
      });
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  const fields = [{ name: "photos", type: "image_upload", label: "Photos", multiple: true, maxItems: 2, default: examples }];
  const body = { name: "Examples", nodes: [nodeAt("in", "request-input", { x: 0, y: 0 }, { fields })], edges: [] };
  const { body: created } = await stage.http.call("POST", "/api/workflows", { key: account.key, body });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(created.slug)}?panel=run`);
  await list(page).locator("[data-item]").nth(1).waitFor();
  await list(page)
    .locator("input[type=file]")
    .setInputFiles([file("own", 9)]);
  await shows(page, ["own"]);
  await page.getByText("Your files replace the examples.").waitFor({ state: "attached" });
  await dropOn(page, "next", 10);
  await shows(page, ["own", "next"]);
  expect(complaints).toEqual([]);
  await context.close();
});

test("takes many files at once, reorders them by pointer and keys, adds from the library, and runs with them in order", async () => {
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${slug}?panel=run`);
  await nodes(page, 2);
  await list(page)
    .locator("input[type=file]")
    .setInputFiles([file("a", 1), file("b", 2), file("c", 3)]);
  await shows(page, ["a", "b", "c"]);
  await list(page).getByRole("button", { name: "Move a.png later" }).click();
  await shows(page, ["b", "a", "c"]);
  await page.keyboard.press("Alt+End");
  await shows(page, ["b", "c", "a"]);
  await list(page).locator("li").nth(2).dragTo(list(page).locator("li").first());
  await shows(page, ["a", "b", "c"]);
  await dropOn(page, "d", 4);
  await shows(page, ["a", "b", "c", "d"]);
  await list(page).getByRole("button", { name: "Remove b.png" }).click();
  await shows(page, ["a", "c", "d"]);
  await list(page).getByRole("button", { name: "Choose" }).click();
  const picker = page.getByRole("dialog", { name: "Choose files for Photos" });
  await picker.getByRole("button", { name: /^b\.png/ }).click();
  expect(await accessibilityProblems(page)).toEqual([]);
  await picker.getByRole("button", { name: "Add 1 file" }).click();
  await shows(page, ["a", "c", "d", "b"]);
  // Beyond the maximum of five, the rest is reported and left out.
  await list(page)
    .locator("input[type=file]")
    .setInputFiles([file("e", 5), file("f", 6)]);
  await shows(page, ["a", "c", "d", "b", "e"]);
  await page.getByText("Photos takes at most 5 files. The others weren't added.").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByTestId("run").click();
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
  const { rows } = (await stage.http.call("GET", "/api/executions?limit=1", { key: account.key })).body as {
    rows: { executionId: string }[];
  };
  const { result } = (await stage.http.call("GET", `/api/executions/${rows[0]!.executionId}`, { key: account.key })).body as {
    result: { images: object[] };
  };
  expect(result.images).toHaveLength(5);
  expect(complaints).toEqual([]);
  await context.close();
});

test("is usable on a phone in the dark, and runs empty", async () => {
  const { page, context, complaints } = await stage.signedIn(account, PHONE);
  await page.goto(`/workflows/${slug}?panel=run`);
  await list(page)
    .locator("input[type=file]")
    .setInputFiles([file("a", 1), file("b", 2), file("c", 3)]);
  await shows(page, ["a", "b", "c"]);
  await list(page).locator("li").first().scrollIntoViewIfNeeded();
  expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
  expect(await accessibilityProblems(page)).toEqual([]);
  const { PICTURES } = process.env;
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/file-list-390.png` });
  for (const name of ["a", "b", "c"])
    await list(page)
      .getByRole("button", { name: `Remove ${name}.png` })
      .click();
  await list(page).getByText("Drop files here, or choose them.").waitFor();
  await page.getByTestId("run").click();
  await page.getByText("Completed", { exact: true }).first().waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("a file node takes several files, and a node behind it runs once for each as soon as its last setting is typed", async () => {
  const body = {
    name: "Contact prints",
    nodes: [
      nodeAt("files", "media-upload", { x: 0, y: 0 }),
      nodeAt("small", "media", { x: 340, y: 0 }, { operation: "image-resize" }),
      nodeAt("end", "response-output", { x: 680, y: 0 }),
    ],
    edges: [edge("files.media", "small.image"), edge("small.image", "end.images")],
  };
  const saved = (await stage.http.call("POST", "/api/workflows", { key: account.key, body })).body;
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(saved.slug)}`);
  await nodes(page, 3);
  const select = (id: string) => page.locator(`${NODE}[data-id="${id}"]`).click({ position: { x: 60, y: 14 } });
  await select("files");
  await page.getByLabel("Several files").check();
  const files = page.getByRole("group", { name: "Files" });
  await files.locator("input[type=file]").setInputFiles([file("a", 7), file("b", 8), file("c", 9)]);
  await expect(files.locator("[data-item]")).toHaveCount(3);
  expect(await accessibilityProblems(page)).toEqual([]);
  await select("small");
  await page.getByLabel("Width (pixels)").last().fill("32");
  await page.getByTestId("run-now").click();
  await page.locator("section[aria-label=Run] header").getByText("Completed", { exact: true }).waitFor();
  const { rows } = (await stage.http.call("GET", `/api/executions?workflowSlug=${String(saved.slug)}`, { key: account.key })).body;
  const [{ executionId }] = rows as [{ executionId: string }];
  const { result } = (await stage.http.call("GET", `/api/executions/${executionId}`, { key: account.key })).body;
  expect((result as { images: unknown[] }).images).toHaveLength(3);
  expect(complaints).toEqual([]);
  await context.close();
});
