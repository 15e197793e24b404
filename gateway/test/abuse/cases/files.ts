import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { answers, pick, refuses } from "../../conformance/check";
import { unique, type Actor } from "../../conformance/context";
import { node, save } from "../../conformance/graphs";
import type { Answer } from "../../../../test-support/client";
import type { AbuseCase, Cast } from "../case";

const MEBIBYTE = 1024 * 1024;
const SIGNATURE = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const pictureOf = (bytes: number): Buffer => Buffer.concat([SIGNATURE, randomBytes(bytes)]);
const PARTS = 2_000;
const RANGES = 500;
const SMALL_BYTES = 2_000;
const LARGE_BYTES = 20 * MEBIBYTE;
const DATA_URL_CHARS = 6 * MEBIBYTE;

const upload = async ({ context }: Cast, { key }: Actor, bytes: Buffer, contentType = "image/png"): Promise<Answer> => {
  const headers = { "x-api-key": key, "content-type": contentType };
  const response = await fetch(`${context.baseUrl}/api/media`, { method: "POST", headers, body: new Uint8Array(bytes) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: (text === "" ? {} : JSON.parse(text)) as Answer["body"] };
};

interface StoredFile {
  id: string;
  url: string;
}
const storedBy = async (cast: Cast, actor: Actor, bytes = pictureOf(SMALL_BYTES)): Promise<StoredFile> => {
  const answer = await upload(cast, actor, bytes);
  assert.equal(answer.status, 201, answer.text);
  return { id: pick(answer, "id"), url: pick(answer, "url") };
};

let namedFile: StoredFile;
let template = "";
let own: StoredFile;

export const fileCases: AbuseCase[] = [
  {
    id: "files-named",
    title: "a file by the id that a template names",
    requests: 5,
    prepare: async (cast) => {
      namedFile = await storedBy(cast, cast.victim);
      const nodes = [node("file", "media-upload", { mediaId: namedFile.id })];
      template = await save(cast.victim, { name: `Names a file ${unique()}`, isTemplate: true, nodes });
    },
    attack: async ({ context, unlimited }) => {
      for (const key of [namedFile.id, `${namedFile.id}.png`, encodeURIComponent(`../${namedFile.id}`)]) {
        const { status } = await fetch(`${context.baseUrl}/media/${key}`);
        assert.ok(status === 404 || status === 400, `${key}: ${status}`);
      }
      for (const answer of [
        await unlimited.delete(`/api/media/${namedFile.id}`),
        await unlimited.post(`/api/media/${namedFile.id}/keep`),
      ]) {
        assert.equal(answer.status, 404, answer.text);
      }
    },
    cleanUp: async ({ victim }) => {
      await victim.delete(`/api/workflows/${template}`);
      await victim.delete(`/api/media/${namedFile.id}`);
    },
  },
  {
    id: "files-pages",
    title: "pages and scripts uploaded as pictures",
    requests: 2,
    attack: async (cast) => {
      for (const content of ["<html><script>alert(1)</script></html>", '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>']) {
        const answer = await upload(cast, cast.unlimited, Buffer.from(content));
        if (answer.status === 415) continue;
        assert.equal(answer.status, 201, answer.text);
        const type = (await fetch(pick(answer, "url"))).headers.get("content-type") ?? "";
        assert.doesNotMatch(type, /html|svg|xml|javascript/);
        await cast.unlimited.delete(`/api/media/${pick(answer, "id")}`);
      }
    },
  },
  {
    id: "files-large",
    title: "an upload of 20 MB",
    attack: async (cast) => {
      const { id } = await storedBy(cast, cast.unlimited, pictureOf(LARGE_BYTES));
      assert.equal((await cast.unlimited.delete(`/api/media/${id}`)).status, 204);
    },
  },
  {
    id: "files-parts",
    title: "a form of 2,000 parts, none of which is a file",
    attack: async (cast) => {
      const part = (index: number): string => `--b\r\nContent-Disposition: form-data; name="p${index}"\r\n\r\nx\r\n`;
      const body = Buffer.from(`${Array.from({ length: PARTS }, (_, index) => part(index)).join("")}--b--\r\n`);
      const answer = await upload(cast, cast.unlimited, body, "multipart/form-data; boundary=b");
      assert.ok(answer.status === 400 || answer.status === 413, `${answer.status} ${answer.text}`);
    },
  },
  {
    id: "files-ranges",
    title: "five hundred ranges of one file",
    prepare: async (cast) => {
      own = await storedBy(cast, cast.unlimited);
    },
    attack: async () => {
      const range = `bytes=${Array.from({ length: RANGES }, (_, index) => `${index}-`).join(",")}`;
      const response = await fetch(own.url, { headers: { range } });
      const bytes = (await response.arrayBuffer()).byteLength;
      assert.ok([200, 206, 400, 416].includes(response.status), String(response.status));
      assert.ok(bytes <= SMALL_BYTES + SIGNATURE.length, `${bytes} bytes`);
    },
    cleanUp: async ({ unlimited }) => void (await unlimited.delete(`/api/media/${own.id}`)),
  },
  {
    id: "files-data-url",
    title: "a data URL of six megabytes in place of a picture",
    attack: async ({ unlimited }) => {
      const image = `data:image/png;base64,${pictureOf((DATA_URL_CHARS / 4) * 3 - SIGNATURE.length).toString("base64")}`;
      answers(await unlimited.post("/api/models/sandbox-image-fast/run", { inputs: { prompt: "a loom", image } }), 200);
    },
  },
  {
    id: "files-data-url-of-nothing",
    title: "the same with data that isn't a picture",
    attack: async ({ unlimited }) => {
      const image = `data:image/png;base64,${"A".repeat(DATA_URL_CHARS)}`;
      refuses(await unlimited.post("/api/models/sandbox-image-fast/run", { inputs: { prompt: "a loom", image } }), 400, "INVALID_INPUTS");
    },
  },
];
