import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { checkGlb } from "../../media/src/glb";
import { startSandbox, type TestSandbox } from "./support/sandbox";

/** 3D models: vases from prompts, and reliefs of pictures. */

let sandbox: TestSandbox;
let folder: string;
beforeAll(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "nodeloom-glb-"));
});
afterAll(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Gltf {
  accessors: { bufferView: number; count: number; min?: number[]; max?: number[] }[];
  bufferViews: { byteOffset: number; byteLength: number }[];
  images: { bufferView: number; mimeType: string }[];
  meshes: { primitives: { attributes: { POSITION: number; NORMAL: number }; indices: number }[] }[];
}

/** Reads a GLB file that passes the check of the media service. */
const readGlb = async (bytes: Buffer): Promise<{ gltf: Gltf; view(index: number): Buffer }> => {
  const path = join(folder, "model.glb");
  await writeFile(path, bytes);
  await checkGlb(path, bytes.length);
  const jsonBytes = bytes.readUInt32LE(12);
  const gltf = JSON.parse(bytes.subarray(20, 20 + jsonBytes).toString()) as Gltf;
  const binary = bytes.subarray(20 + jsonBytes + 8);
  return {
    gltf,
    view: (index) => {
      const { byteOffset, byteLength } = gltf.bufferViews[index]!;
      return binary.subarray(byteOffset, byteOffset + byteLength);
    },
  };
};

const answered = async (job: object, path = "/v1/jobs"): Promise<Buffer> => {
  const { status, at } = await sandbox.call("POST", path, job);
  expect([201, 202]).toContain(status);
  sandbox.advance(60_000);
  const result = await sandbox.call("GET", `${path}/${at("id") as string}`);
  return sandbox.bytes((result.at("output.models3d.0.url") ?? result.at("output")) as string);
};

/** A picture that is black on its left half and white on its right half. */
const picture = async (): Promise<string> => {
  const white = await sharp({ create: { width: 40, height: 40, channels: 3, background: "#ffffff" } })
    .png()
    .toBuffer();
  const bytes = await sharp({ create: { width: 80, height: 40, channels: 3, background: "#000000" } })
    .composite([{ input: white, left: 40, top: 0 }])
    .png()
    .toBuffer();
  return `data:image/png;base64,${bytes.toString("base64")}`;
};

it("makes a closed form with a texture from a prompt, and the same one for the same prompt", async () => {
  const bytes = await answered({ kind: "3d", prompt: "a vase" });
  const { gltf, view } = await readGlb(bytes);
  const [surface] = gltf.meshes[0]!.primitives;
  const [positions, indices] = [gltf.accessors[surface!.attributes.POSITION]!, gltf.accessors[surface!.indices]!];
  const used = view(indices.bufferView);
  for (let index = 0; index < indices.count; index += 1) expect(used.readUInt16LE(index * 2)).toBeLessThan(positions.count);
  const normals = view(gltf.accessors[surface!.attributes.NORMAL]!.bufferView);
  for (let at = 0; at < positions.count * 12; at += 12)
    expect(Math.hypot(normals.readFloatLE(at), normals.readFloatLE(at + 4), normals.readFloatLE(at + 8))).toBeCloseTo(1, 4);
  expect(await sharp(view(gltf.images[0]!.bufferView)).metadata()).toMatchObject({ width: 512, height: 512, format: "png" });
  const hash = (one: Buffer): string => createHash("sha256").update(one).digest("hex");
  expect(hash(await answered({ kind: "3d", prompt: "a vase" }))).toBe(hash(bytes));
  expect(hash(await answered({ kind: "3d", prompt: "a bowl" }))).not.toBe(hash(bytes));
});

it.each([
  ["/v1/jobs", (image: string) => ({ kind: "3d", image })],
  ["/v1/predictions", (image: string) => ({ version: "sandbox-3d", input: { prompt: "a coin", image } })],
])("makes a relief of a picture that is high where the picture is bright, at %s", async (path, job) => {
  const { gltf, view } = await readGlb(await answered(job(await picture()), path));
  const front = gltf.accessors[gltf.meshes[0]!.primitives[0]!.attributes.POSITION]!;
  expect([front.max![0]! - front.min![0]!, front.max![1]! - front.min![1]!]).toEqual([2, 1]);
  const points = view(front.bufferView);
  const heights: { left: number[]; right: number[] } = { left: [], right: [] };
  for (let at = 0; at < front.count * 12; at += 12) {
    const [x, y] = [points.readFloatLE(at), points.readFloatLE(at + 4)];
    if (Math.abs(y) < 0.4 && Math.abs(x) > 0.2 && Math.abs(x) < 0.9) heights[x < 0 ? "left" : "right"].push(points.readFloatLE(at + 8));
  }
  expect(Math.min(...heights.right)).toBeGreaterThan(2 * Math.max(...heights.left));
  expect(await sharp(view(gltf.images[0]!.bufferView)).metadata()).toMatchObject({ width: 512, height: 256, format: "jpeg" });
});

it("needs a prompt or a picture, and rejects files that aren't pictures", async () => {
  expect(await sandbox.call("POST", "/v1/jobs", { kind: "3d" })).toMatchObject({ status: 400, body: { error: { param: "prompt" } } });
  expect(await sandbox.call("POST", "/v1/jobs", { kind: "image" })).toMatchObject({ status: 400, body: { error: { param: "prompt" } } });
  const image = `data:image/png;base64,${Buffer.from("no image").toString("base64")}`;
  expect(await sandbox.call("POST", "/v1/jobs", { kind: "3d", image })).toMatchObject({
    status: 422,
    body: { error: { code: "input_unreadable" } },
  });
});
