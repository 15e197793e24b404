import { expect, test } from "@playwright/test";
import { SHAPE, svgOf } from "../../../test-support/vectors";
import { setStage } from "./support/stage";

/** `npm run drill console`: vectors (SVG) in the library and in the viewer. */
const stage = setStage();

test("an uploaded vector is shown as an image, runs nothing, and is downloaded as .svg", async () => {
  const account = await stage.http.account({ tier: "enterprise" });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto("/files");
  const buffer = Buffer.from(svgOf(`<script>window.broken = "yes"</script>${SHAPE}`));
  await page.locator("input[type=file]").setInputFiles({ name: "logo.svg", mimeType: "", buffer });
  const tile = page.getByRole("button", { name: /image\/svg\+xml/ });
  await tile.first().dblclick();
  const picture = page.getByRole("dialog").locator("img").first();
  await expect.poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBeGreaterThan(0);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("dialog").getByRole("button", { name: "Download", exact: true }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.svg$/);
  expect(await page.evaluate(() => "broken" in globalThis)).toBe(false);
  expect(complaints).toEqual([]);
  await context.close();
});
