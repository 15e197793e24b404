import { createHash } from "node:crypto";
import { createEgressClient, createSlots, type EgressClient } from "@nodeloom/platform";
import type { media as mediaProto } from "@nodeloom/proto";
import { ProviderError } from "@nodeloom/providers";
import { withFreshFiles } from "../../src/calls/call";
import { createInputFiles, type InputFilesOptions } from "../../src/calls/input-files";
import type { MaskFile, VectorFile } from "../../src/calls/mask-files";
import { startRecordingServer, type RecordingServer } from "../../../../test-support/recording-server";
import { callOf } from "../support/model-calls";

/** Sends files to providers. A local server simulates their storage. */

const OWN = "http://127.0.0.1:8080/media/";
const PUBLIC_OWN = "https://loom.nodeloom.dev/media/";

let server: RecordingServer;
let base: string;
let egress: EgressClient;
/** Statuses of the next responses, instead of a success. */
let failures: number[];

const answerTo = (path: string): unknown => {
  if (path.startsWith("/storage/upload/initiate")) return { upload_url: `${base}/put/1`, file_url: "https://v3.fal.media/files/a.png" };
  if (path === "/v1/files") return { urls: { get: "https://api.replicate.com/v1/files/f" }, expires_at: new Date(Date.now() + 86_400_000) };
  if (path === "/v1/uploads") return { uploadUrl: `${base}/form`, fields: { key: "k" }, runwayUri: "runway://1" };
  return {};
};

beforeAll(async () => {
  server = await startRecordingServer();
  server.answer = ({ call }) => {
    const status = failures.shift();
    return status === undefined ? { json: answerTo(call.slice(call.indexOf(" ") + 1)) } : { status, json: { error: "no" } };
  };
  base = server.url;
  egress = createEgressClient({ allow: [server.address] });
});
afterAll(async () => {
  await egress.close();
  await server.stop();
});
beforeEach(() => {
  server.requests = [];
  failures = [];
});

/** The platform's own storage: bytes by key. */
const storageOf = (objects: Record<string, Buffer>) => {
  const ingested: string[] = [];
  const media: InputFilesOptions["media"] = {
    async *readObject({ key }) {
      const bytes = objects[key]!;
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const contentType = key.endsWith(".svg") ? "image/svg+xml" : "image/png";
      yield { part: { $case: "header", value: { contentType, bytes: bytes.length, sha256 } } };
      for (let from = 0; from < bytes.length; from += 65_536)
        yield await Promise.resolve({ part: { $case: "chunk" as const, value: bytes.subarray(from, from + 65_536) } });
    },
    ingest: ({ sourceUrl }) => {
      ingested.push(sourceUrl);
      return Promise.resolve({ object: { key: /svg|logo/i.test(sourceUrl) ? "0a.svg" : "a.png" } as mediaProto.StoredObject });
    },
  };
  return { media, ingested };
};

const inputSchema = {
  type: "object",
  properties: {
    prompt: { type: "string" },
    image: { type: "string", format: "media" },
    mask: { type: "string", format: "media", contentMediaType: "image/*", "x-mask": true },
    images: { type: "array", items: { type: "string", format: "media" } },
  },
};

const sender = (provider: Record<string, unknown>, { own = OWN, bytes = Buffer.from("picture") } = {}) => {
  const { media, ingested } = storageOf({ "a.png": bytes, "0a.svg": Buffer.from("<svg/>") });
  const downloads = createSlots({ concurrency: 4, queueLimit: 10 });
  const masks: MaskFile[] = [];
  const convertMask = (file: MaskFile): Promise<string> => {
    masks.push(file);
    return Promise.resolve(`${own}converted.png`);
  };
  const vectors: VectorFile[] = [];
  const convertVector = (file: VectorFile): Promise<string> => {
    vectors.push(file);
    return Promise.resolve(`${own}a.png`);
  };
  const send = createInputFiles({ egress, secret: () => "secret-of-ours", media, own, downloads, convertMask, convertVector });
  const settings = { kind: "http-polling", baseUrl: base, hosted: true, auth: { scheme: "Key", secretEnv: "KEY" }, ...provider };
  const model = { inputSchema, providerJson: JSON.stringify(settings) };
  const sending = (inputs: Record<string, unknown>) => send(callOf(), model, inputs);
  return { ingested, masks, vectors, sending, send: async (inputs: Record<string, unknown>) => (await sending(inputs)).inputs };
};
const ways = (...send: string[]) => ({ files: { image: { send }, images: { send } } });
const DATA = `data:image/png;base64,${Buffer.from("picture").toString("base64")}`;

describe("an address", () => {
  it("is sent if the provider can read it", async () => {
    const { send } = sender(ways("url", "data-url"), { own: PUBLIC_OWN });
    expect(await send({ prompt: "x", image: `${PUBLIC_OWN}a.png` })).toEqual({ prompt: "x", image: `${PUBLIC_OWN}a.png` });
    expect(await send({ image: "https://files.nodeloom.dev/b.png" })).toEqual({ image: "https://files.nodeloom.dev/b.png" });
  });

  it("is sent unchanged to a provider in the own network", async () => {
    const { send } = sender({ ...ways("url"), hosted: false });
    expect(await send({ image: `${OWN}a.png` })).toEqual({ image: `${OWN}a.png` });
  });

  it.each([
    "http://127.0.0.1:8080/media/a.png",
    "https://10.0.0.1/a.png",
    "https://loom.internal/a.png",
    "http://files.nodeloom.dev/a.png",
  ])("is not sent if a hosted provider can't read it: %s", async (image) => {
    const { send } = sender(ways("url", "data-url"));
    expect(await send({ image })).toEqual({ image: DATA });
  });
});

describe("a vector", () => {
  it("is sent as a PNG, by any method, because models take pixels", async () => {
    const byAddress = sender(ways("url"), { own: PUBLIC_OWN });
    expect(await byAddress.send({ image: `${PUBLIC_OWN}0a.svg?e=1&s=2` })).toEqual({ image: `${PUBLIC_OWN}a.png` });
    expect(byAddress.vectors).toMatchObject([{ name: "image", index: 0, key: "0a.svg" }]);
    const inRequest = sender(ways("data-url"));
    expect(await inRequest.send({ images: [`${OWN}0a.svg`, `${OWN}a.png`] })).toEqual({ images: [DATA, DATA] });
    expect(inRequest.vectors).toHaveLength(1);
  });

  it("is stored first if it is in the request", async () => {
    const { send, ingested, vectors } = sender(ways("data-url"));
    const image = `data:image/svg+xml;base64,${Buffer.from("<svg/>").toString("base64")}`;
    expect(await send({ image })).toEqual({ image: DATA });
    expect([ingested, vectors.length]).toEqual([[image], 1]);
  });

  it("at an address of another server is stored, and sent as a PNG, also to a provider that reads addresses", async () => {
    const { send, ingested, vectors } = sender(ways("url"), { own: PUBLIC_OWN });
    const image = "https://files.nodeloom.dev/Logo.SVG?v=2";
    expect(await send({ image })).toEqual({ image: `${PUBLIC_OWN}a.png` });
    expect([ingested, vectors.map(({ key }) => key)]).toEqual([[image], ["0a.svg"]]);
  });

  it("at an address that doesn't say so is sent as a PNG if its file is sent", async () => {
    const { send, ingested, vectors } = sender(ways("data-url"));
    const image = "https://files.nodeloom.dev/logo";
    expect(await send({ image })).toEqual({ image: DATA });
    expect([ingested, vectors.map(({ key }) => key)]).toEqual([[image], ["0a.svg"]]);
  });
});

describe("a mask", () => {
  const files = { mask: { send: ["url"], mask: { selected: "transparent", image: "image" } }, image: { send: ["url"] } };

  it("is sent in the form that its provider takes, at the size of the image of the same call", async () => {
    const { send, masks } = sender({ files, hosted: false });
    expect(await send({ image: `${OWN}photo.png`, mask: `${OWN}mask.png` })).toEqual({
      image: `${OWN}photo.png`,
      mask: `${OWN}converted.png`,
    });
    expect(masks).toMatchObject([{ name: "mask", selected: "transparent", mask: "mask.png", image: "photo.png" }]);
  });

  it("keeps its size without an image, and is sent unchanged if its entry names no form", async () => {
    const { send, masks } = sender({ files, hosted: false });
    await send({ mask: `${OWN}mask.png` });
    expect(masks[0]!.image).toBeUndefined();
    const plain = sender({ files: { mask: { send: ["url"] } }, hosted: false });
    expect(await plain.send({ mask: `${OWN}mask.png` })).toEqual({ mask: `${OWN}mask.png` });
    expect(plain.masks).toEqual([]);
  });
});

describe("a file inside the request", () => {
  it("is a data URL, or base64, for each file of a list", async () => {
    expect(await sender(ways("data-url")).send({ images: [`${OWN}a.png`, DATA] })).toEqual({ images: [DATA, DATA] });
    const base64 = DATA.slice(DATA.indexOf(",") + 1);
    expect(await sender(ways("base64")).send({ images: [`${OWN}a.png`, DATA] })).toEqual({ images: [base64, base64] });
  });

  it("is at most as long as the entry's limit; then the next way is used", async () => {
    const files = { image: { send: ["data-url", "upload"], maxDataChars: 1_000 } };
    const { send } = sender({ files, upload: { api: "fal" } }, { bytes: Buffer.alloc(800) });
    expect(await send({ image: `${OWN}a.png` })).toEqual({ image: "https://v3.fal.media/files/a.png" });
  });
});

describe("an upload", () => {
  it("to fal goes to the address of its storage, without the key", async () => {
    const { send } = sender({ ...ways("upload"), upload: { api: "fal", baseUrl: base } });
    expect(await send({ image: `${OWN}a.png` })).toEqual({ image: "https://v3.fal.media/files/a.png" });
    expect(server.requests.map(({ call }) => call)).toEqual(["POST /storage/upload/initiate?storage_type=fal-cdn-v3", "PUT /put/1"]);
    expect(server.requests[0]!.json()).toEqual({ content_type: "image/png", file_name: "a.png" });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Key secret-of-ours", undefined]);
    expect(server.requests[1]).toMatchObject({
      headers: { "content-type": "image/png", "content-length": "7" },
      bytes: Buffer.from("picture"),
    });
  });

  it("to Replicate is a form with the file and its metadata", async () => {
    const { send } = sender({ ...ways("upload"), upload: { api: "replicate" } });
    expect(await send({ image: `${OWN}a.png` })).toEqual({ image: "https://api.replicate.com/v1/files/f" });
    const { headers, bytes } = server.requests[0]!;
    const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": headers["content-type"]! } }).formData();
    expect(Number(headers["content-length"])).toBe(bytes.length);
    expect(form.get("metadata")).toBe("{}");
    const file = form.get("content") as File;
    expect([file.name, file.type, await file.text()]).toEqual(["a.png", "image/png", "picture"]);
  });

  it("to Runway is a form with its required fields, and the file last", async () => {
    const { send } = sender({ ...ways("upload"), upload: { api: "runway" } });
    expect(await send({ image: `${OWN}a.png` })).toEqual({ image: "runway://1" });
    expect(server.requests[0]!.json()).toEqual({ filename: "a.png", type: "ephemeral" });
    expect(server.requests[0]!.headers["x-runway-version"]).toBe("2024-11-06");
    expect([server.requests[1]!.call, server.requests[1]!.headers.authorization]).toEqual(["POST /form", undefined]);
    const form = await new Response(new Uint8Array(server.requests[1]!.bytes), {
      headers: { "content-type": server.requests[1]!.headers["content-type"]! },
    }).formData();
    expect([...form.keys()]).toEqual(["key", "file"]);
  });

  it("is made once for all calls with the same bytes", async () => {
    const { send } = sender({ ...ways("upload"), upload: { api: "replicate" } });
    await Promise.all([send({ image: `${OWN}a.png` }), send({ image: `${OWN}a.png` })]);
    await send({ images: [`${OWN}a.png`, "https://files.nodeloom.dev/same.png"] });
    expect(server.requests).toHaveLength(1);
  });

  it("of an earlier call is repeated once if the provider rejects the reused file", async () => {
    const { sending } = sender({ ...ways("upload"), upload: { api: "replicate" } });
    const refusing = (status: number) => {
      let sends = 0;
      const send = (): Promise<never> => ((sends += 1), Promise.reject(new ProviderError("refused", "no such file", status)));
      return { send, sends: () => sends };
    };
    const fresh = refusing(400);
    await expect(withFreshFiles(await sending({ image: `${OWN}a.png` }), fresh.send)).rejects.toThrow("no such file");
    expect([fresh.sends(), server.requests.length]).toEqual([1, 1]);
    const forgotten = refusing(404);
    await expect(withFreshFiles(await sending({ image: `${OWN}a.png` }), forgotten.send)).rejects.toThrow("no such file");
    expect([forgotten.sends(), server.requests.length]).toEqual([2, 2]);
    const badKey = refusing(401);
    await expect(withFreshFiles(await sending({ image: `${OWN}a.png` }), badKey.send)).rejects.toThrow("no such file");
    expect([badKey.sends(), server.requests.length]).toEqual([1, 2]);
    const images: unknown[] = [];
    const once = (inputs: Record<string, unknown>): Promise<string> => {
      images.push(inputs.image);
      return images.length === 1 ? forgotten.send() : Promise.resolve("taken");
    };
    expect(await withFreshFiles(await sending({ image: `${OWN}a.png` }), once)).toBe("taken");
    expect([images.length, server.requests.length]).toEqual([2, 3]);
  });

  it("is retried while the storage is briefly unavailable, and by the next call after a failure", async () => {
    const { send } = sender({ ...ways("upload"), upload: { api: "replicate" } });
    failures = [503];
    expect(await send({ image: `${OWN}a.png` })).toEqual({ image: "https://api.replicate.com/v1/files/f" });
    const other = sender({ ...ways("upload"), upload: { api: "replicate" } });
    failures = [413];
    await expect(other.send({ image: `${OWN}a.png` })).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
      message: expect.stringMatching(/^m: input image: the provider answered 413/) as string,
    });
    expect(await other.send({ image: `${OWN}a.png` })).toHaveProperty("image");
  });

  it("sends a large file whole, with its length", async () => {
    const bytes = Buffer.alloc(40 * 1024 * 1024, 7);
    const { send } = sender({ ...ways("upload"), upload: { api: "fal" } }, { bytes });
    await send({ image: `${OWN}a.png` });
    expect(server.requests[1]!.bytes.equals(bytes)).toBe(true);
    expect(server.requests[1]!.headers["content-length"]).toBe(String(bytes.length));
  });

  it("of a foreign address goes through the platform's storage, with the rules for users' addresses", async () => {
    const { send, ingested } = sender({ ...ways("upload"), upload: { api: "fal" } });
    await send({ image: "http://files.nodeloom.dev/b.png" });
    expect(ingested).toEqual(["http://files.nodeloom.dev/b.png"]);
  });
});

describe("a file that can't be sent", () => {
  it("fails the call before anything is submitted, and names the setting to change", async () => {
    await expect(sender(ways("url")).send({ image: `${OWN}a.png` })).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
      message: expect.stringMatching(/^m: input image: .*set PUBLIC_BASE_URL to an https address/) as string,
    });
    const { send } = sender({ files: { image: { send: ["url", "data-url"], maxDataChars: 4_096 } } }, { bytes: Buffer.alloc(10_000) });
    await expect(send({ image: `${OWN}a.png` })).rejects.toThrow(/PUBLIC_BASE_URL .*, or give a file of at most 3 kB/);
    expect(server.requests).toEqual([]);
  });
});
