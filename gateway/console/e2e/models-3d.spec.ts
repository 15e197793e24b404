import { expect, test, type Locator } from "@playwright/test";
import sharp from "sharp";
import { accessibilityProblems } from "../../../test-support/browser";
import type { Account } from "../../../test-support/client";
import { glbOf, TRIANGLE } from "../../../test-support/glb";
import { edge, NODE, nodeAt, nodes } from "./support/canvas";
import { setStage } from "./support/stage";

/** `npm run drill console`: 3D models in the library, in the viewer and on nodes. */
const stage = setStage();

/** A square with a red texture inside the file. */
const redSquare = async (): Promise<Buffer> => {
  const texture = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#ff0000" } })
    .png()
    .toBuffer();
  const positions = Buffer.from(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]).buffer);
  const coordinates = Buffer.from(new Float32Array([0, 1, 1, 1, 1, 0, 0, 0]).buffer);
  const indices = Buffer.from(new Uint16Array([0, 1, 2, 0, 2, 3]).buffer);
  const parts = [positions, coordinates, indices, texture];
  const offsets = parts.map((_, index) => parts.slice(0, index).reduce((sum, { length }) => sum + length, 0));
  const binary = Buffer.concat(parts);
  return glbOf({
    binary,
    gltf: {
      ...TRIANGLE,
      meshes: [{ primitives: [{ attributes: { POSITION: 0, TEXCOORD_0: 1 }, indices: 2, material: 0 }] }],
      materials: [{ doubleSided: true, pbrMetallicRoughness: { baseColorTexture: { index: 0 }, metallicFactor: 0 } }],
      textures: [{ source: 0 }],
      images: [{ bufferView: 3, mimeType: "image/png" }],
      accessors: [
        { bufferView: 0, componentType: 5126, count: 4, type: "VEC3", min: [-1, -1, 0], max: [1, 1, 0] },
        { bufferView: 1, componentType: 5126, count: 4, type: "VEC2" },
        { bufferView: 2, componentType: 5123, count: 6, type: "SCALAR" },
      ],
      bufferViews: parts.map(({ length }, index) => ({ buffer: 0, byteOffset: offsets[index], byteLength: length })),
      buffers: [{ byteLength: binary.length }],
    },
  });
};

let account: Account;
test.beforeAll(async () => {
  account = await stage.http.account({ tier: "enterprise" });
});

/** Share of red pixels of a view. */
const redness = async (view: Locator): Promise<number> => {
  const { data, info } = await sharp(await view.screenshot())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  let red = 0;
  for (let at = 0; at < data.length; at += info.channels) if (data[at]! > 120 && data[at + 1]! < 130 && data[at + 2]! < 130) red += 1;
  return red / (info.width * info.height);
};
const eventuallyRed = async (view: Locator): Promise<void> => {
  await view.and(view.page().locator('[data-model3d="shown"]')).waitFor();
  await expect.poll(() => redness(view)).toBeGreaterThan(0.1);
};

test("an uploaded 3D model is shown with its textures, and is turned by pointer and keys", async () => {
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto("/files");
  await page.locator("input[type=file]").setInputFiles({ name: "chair.glb", mimeType: "", buffer: await redSquare() });
  const tile = page.getByRole("button", { name: /model\/gltf-binary/ });
  await tile.first().dblclick();
  const view = page.locator("[data-model3d]");
  await eventuallyRed(view);
  const before = await redness(view);
  const canvas = view.locator("canvas");
  const { x, y, width, height } = (await canvas.boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 - 120, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => redness(view)).not.toBe(before);
  await canvas.focus();
  const dragged = await redness(view);
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press("ArrowLeft");
  await expect.poll(() => redness(view)).not.toBe(dragged);
  await page.getByRole("button", { name: "Reset the view" }).click();
  await expect.poll(() => redness(view)).toBeCloseTo(before, 2);
  expect(await accessibilityProblems(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await context.close();
});

test("nodes show 3D models, and say if one can't be shown", async () => {
  const upload = async (bytes: Buffer): Promise<string> => {
    const headers = { "x-api-key": account.key!, "content-type": "model/gltf-binary" };
    const response = await fetch(`${stage.platform.baseUrl}/api/media`, { method: "POST", headers, body: new Uint8Array(bytes) });
    return ((await response.json()) as { id: string }).id;
  };
  const empty = glbOf({ gltf: { asset: { version: "2.0" } } });
  const graph = {
    nodes: [
      nodeAt("whole", "media-upload", { x: 0, y: 0 }, { mediaId: await upload(await redSquare()) }),
      nodeAt("empty", "media-upload", { x: 400, y: 0 }, { mediaId: await upload(empty) }),
      nodeAt("end", "response-output", { x: 800, y: 0 }),
    ],
    edges: [edge("whole.media", "end.models3d"), edge("empty.media", "end.models3d")],
  };
  const { body } = await stage.http.call("POST", "/api/workflows", { key: account.key!, body: { name: "Chairs", ...graph } });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(body.slug)}`);
  await nodes(page, 3);
  await eventuallyRed(page.locator(`${NODE}[data-id="whole"] [data-model3d]`));
  await page.locator(`${NODE}[data-id="empty"]`).getByText("This 3D model can't be shown here.").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});

test("a picture on the canvas becomes a 3D model: the node is found, linked, run and shown", async () => {
  const headers = { "x-api-key": account.key!, "content-type": "image/png" };
  const photo = await sharp({ create: { width: 64, height: 48, channels: 3, background: "#ff0000" } })
    .png()
    .toBuffer();
  const body = new Uint8Array(photo);
  const upload = await fetch(`${stage.platform.baseUrl}/api/media`, { method: "POST", headers, body });
  const { id } = (await upload.json()) as { id: string };
  const graph = { nodes: [nodeAt("photo", "media-upload", { x: 0, y: 0 }, { mediaId: id })], edges: [] };
  const created = await stage.http.call("POST", "/api/workflows", { key: account.key!, body: { name: "Relief", ...graph } });
  const { page, context, complaints } = await stage.signedIn(account);
  await page.goto(`/workflows/${String(created.body.slug)}`);
  await nodes(page, 1);
  await page.locator(`${NODE}[data-id="photo"] .node-head`).click();
  await page.keyboard.press("a");
  await page.keyboard.type("image to 3d");
  await page.keyboard.press("Enter");
  await nodes(page, 2);
  await page.keyboard.press("Control+Enter");
  await page.getByTestId("run").click();
  await eventuallyRed(page.locator(`${NODE}[data-id="model3d"] [data-model3d]`));
  expect(complaints).toEqual([]);
  await context.close();
});
