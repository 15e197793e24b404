import { createHash } from "node:crypto";
import sharp from "sharp";
import { startSandbox, type TestSandbox } from "./support/sandbox";

/** Pictures that are drawn inside a mask. */

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const dataUrl = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString("base64")}`;
const photo = (): Promise<Buffer> =>
  sharp({ create: { width: 60, height: 40, channels: 3, background: "#336699" } })
    .png()
    .toBuffer();
/** A mask of half the size whose left half is selected. */
const mask = (): Promise<Buffer> =>
  sharp(Buffer.from(Array.from({ length: 600 }, (_, index) => (index % 30 < 15 ? 255 : 0))), {
    raw: { width: 30, height: 20, channels: 1 },
  })
    .png()
    .toBuffer();

const drawn = async (path: string, body: object, result: string): Promise<Buffer> => {
  const submitted = await sandbox.call("POST", path, body);
  expect([200, 202]).toContain(submitted.status);
  sandbox.advance(60_000);
  const at = path === "/v1/jobs" ? `/v1/jobs/${submitted.at("id") as string}` : `${path}/requests/${submitted.at("request_id") as string}`;
  return sandbox.bytes((await sandbox.call("GET", at)).at(result) as string);
};
const pixelsOf = (bytes: Buffer): Promise<Buffer> => sharp(bytes).raw().toBuffer();

it("changes the white part of the image alone, at the image's size, and draws the same for the same prompt", async () => {
  const job = { kind: "image", prompt: "a loom", image: dataUrl(await photo()), mask: dataUrl(await mask()) };
  const bytes = await drawn("/v1/jobs", job, "output.images.0.url");
  const [pixels, before] = [await pixelsOf(bytes), await pixelsOf(await photo())];
  expect(await sharp(bytes).metadata()).toMatchObject({ width: 60, height: 40, format: "png" });
  const changed = Array.from({ length: 60 }, (_, x) => !pixels.subarray(x * 3, x * 3 + 3).equals(before.subarray(x * 3, x * 3 + 3)));
  expect(changed.slice(0, 25).every(Boolean)).toBe(true);
  expect(changed.slice(32).some(Boolean)).toBe(false);
  const hash = (one: Buffer): string => createHash("sha256").update(one).digest("hex");
  expect(hash(await drawn("/v1/jobs", job, "output.images.0.url"))).toBe(hash(bytes));
  expect(hash(await drawn("/v1/jobs", { ...job, prompt: "a kite" }, "output.images.0.url"))).not.toBe(hash(bytes));
});

it("rejects a mask without an image, and files that aren't images", async () => {
  const masked = { kind: "image", prompt: "x", mask: dataUrl(await mask()) };
  expect(await sandbox.call("POST", "/v1/jobs", masked)).toMatchObject({ status: 400, body: { error: { param: "mask" } } });
  const image = `data:image/png;base64,${Buffer.from("no image").toString("base64")}`;
  expect(await sandbox.call("POST", "/v1/jobs", { ...masked, image })).toMatchObject({
    status: 422,
    body: { error: { code: "input_unreadable" } },
  });
});
