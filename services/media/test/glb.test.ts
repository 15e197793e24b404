import { randomUUID } from "node:crypto";
import { GLB_BOUNDS } from "../src/glb";
import { glbOf, TRIANGLE } from "../../../test-support/glb";
import { PNG, startMedia, type RunningMedia } from "./harness";
import { signed } from "../../../test-support/signed";

let service: RunningMedia;
beforeAll(async () => void (service = await startMedia()));
afterAll(() => service.stop());

const dataUrl = "data:application/octet-stream;base64,AAAA";

describe("3D models", () => {
  it("are stored and served as they are, with a name that viewers know", async () => {
    const bytes = glbOf();
    const { contentType, key } = await service.upload(bytes);
    expect([contentType, key.split(".")[1]]).toEqual(["model/gltf-binary", "glb"]);
    const response = await fetch(`${service.http}/media/${signed(key)}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "model/gltf-binary",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  });

  it("are found by their content: another file under the type of a 3D model is refused", async () => {
    const { contentType } = await service.ingest(randomUUID(), `data:image/png;base64,${glbOf().toString("base64")}`, ["model3d"]);
    expect(contentType).toBe("model/gltf-binary");
    const picture = `data:model/gltf-binary;base64,${PNG.toString("base64")}`;
    await expect(service.ingest(randomUUID(), picture, ["model3d"])).rejects.toThrow("the file is image/png, not model3d");
    await expect(service.upload(glbOf(), { accept: ["image"] })).rejects.toThrow("the file is model/gltf-binary, not image");
  });

  it.each([
    ["with a texture inside", glbOf({ gltf: { ...TRIANGLE, images: [{ uri: "data:image/png;base64,AAAA" }] } })],
    ["with a buffer inside its description", glbOf({ gltf: { ...TRIANGLE, buffers: [{ byteLength: 3, uri: dataUrl }] }, binary: null })],
    ["with a buffer shorter than its padded chunk", glbOf({ binary: Buffer.alloc(38) })],
  ])("are stored %s", async (_what, bytes) => {
    expect((await service.upload(bytes)).bytes).toBe(bytes.length);
  });

  it.each([
    ["cut off", glbOf().subarray(0, -8), "it is truncated or damaged"],
    ["cut off inside its header", glbOf().subarray(0, 9), "has no complete header"],
    ["with bytes after its end", Buffer.concat([glbOf(), PNG]), "it is truncated or damaged"],
    ["whose header has another length", glbOf({ extraLength: 4 }), "but its header says"],
    ["of glTF 1", glbOf({ version: 1 }), "only glTF 2 is supported"],
    ["whose chunks reach beyond its end", glbOf({ gltf: "{}" }).fill(0xff, 12, 16), "ends inside a chunk"],
    ["without a description", glbOf().fill(0, 16, 20), "its first chunk must be JSON"],
    ["with a description that isn't JSON", glbOf({ gltf: '{"asset":' }), "isn't valid JSON"],
    [
      "nested without end",
      glbOf({ gltf: `${'{"extras":'.repeat(10_000)}1${"}".repeat(10_000)}` }),
      "isn't valid JSON or is nested too deep",
    ],
    ["with a huge description", glbOf({ gltf: `{"a":"${"a".repeat(GLB_BOUNDS.jsonBytes)}"}` }), "has a description of more than"],
    ["that doesn't say its version", glbOf({ gltf: { ...TRIANGLE, asset: {} } }), "asset.version"],
    ["with too many nodes", glbOf({ gltf: { ...TRIANGLE, nodes: Array(GLB_BOUNDS.items + 1).fill({}) } }), "has more than 50000 nodes"],
    ["with too many images", glbOf({ gltf: { ...TRIANGLE, images: Array(GLB_BOUNDS.images + 1).fill({}) } }), "has more than 256 images"],
    ["that would fill a viewer's memory", glbOf({ gltf: { ...TRIANGLE, accessors: [{ count: 2 ** 31 }] } }), "declares more than"],
    [
      "with a texture elsewhere",
      glbOf({ gltf: { ...TRIANGLE, images: [{ uri: "https://example.com/a.png" }] } }),
      "refers to another file",
    ],
    ["with a buffer elsewhere", glbOf({ gltf: { ...TRIANGLE, buffers: [{ byteLength: 4, uri: "a.bin" }] } }), "refers to another file"],
    ["with an address in an extension", glbOf({ gltf: { ...TRIANGLE, extensions: { any: [{ uri: "//a" }] } } }), "refers to another file"],
    ["without the data of its buffer", glbOf({ binary: null }), "lacks the data of a buffer"],
    ["with less data than its buffer has", glbOf({ binary: Buffer.alloc(8) }), "lacks the data of a buffer"],
  ])("%s are refused, and the error says why", async (_what, bytes, problem) => {
    await expect(service.upload(bytes)).rejects.toMatchObject({
      reason: "UNSUPPORTED_MEDIA_TYPE",
      message: expect.stringContaining(problem) as string,
    });
  });
});
