import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createEgressClient, startHttpServer, type EgressClient } from "@nodeloom/platform";
import { createSandbox } from "../src/app";
import { API_KEY, callAt, createFolder, removeFolder } from "./support/sandbox";

/** A sandbox that reads its inputs. One exception in its egress guard replaces the internet. */

let files: Server;
let internet: string;
let folder: string;
let egress: EgressClient;
let url: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  files = createServer((request, response) =>
    request.url === "/empty" ? response.end() : request.url === "/a.png" ? response.end("bytes") : response.writeHead(404).end(),
  ).listen(0, "127.0.0.1");
  await once(files, "listening");
  const address = `127.0.0.1:${(files.address() as AddressInfo).port}`;
  internet = `http://${address}`;
  folder = createFolder();
  egress = createEgressClient({ allow: [address] });
  const server = await startHttpServer({
    listen: "127.0.0.1:0",
    app: createSandbox({ apiKey: API_KEY, dataDirectory: folder, egress }),
    graceMs: 0,
  });
  url = `http://127.0.0.1:${server.port}`;
  stop = server.stop;
});
afterAll(async () => {
  await stop();
  await egress.close();
  files.close();
  removeFolder(folder);
});

const submit = (image: string) => callAt(url, "POST", "/v1/jobs", { kind: "image", prompt: "x", image });
const unreadable = { status: 422, body: { error: { code: "input_unreadable" } } };

it("accepts jobs with readable files", async () => {
  expect(await submit(`${internet}/a.png`)).toMatchObject({ status: 202 });
  expect(await submit("data:image/png;base64,AAAA")).toMatchObject({ status: 202 });
});

it.each(["/missing.png", "/empty"])("rejects a job whose file can't be read: %s", async (path) => {
  expect(await submit(internet + path)).toMatchObject(unreadable);
});

it.each(["http://127.0.0.1:1/a.png", "http://10.0.0.1/a.png", "http://localhost/a.png"])(
  "rejects a job whose file is on a private address, in every dialect: %s",
  async (image) => {
    expect(await submit(image)).toMatchObject(unreadable);
    expect(await callAt(url, "POST", "/queue/sandbox-image-fast", { prompt: "x", image })).toMatchObject(unreadable);
    const content = [
      { type: "text", text: "x" },
      { type: "image_url", image_url: { url: image } },
    ];
    expect(
      await callAt(url, "POST", "/v1/chat/completions", { model: "sandbox-chat", messages: [{ role: "user", content }] }),
    ).toMatchObject(unreadable);
  },
);

it("stores uploads, and finds them again", async () => {
  const request = { content_type: "image/png", file_name: "a.png" };
  expect(await callAt(url, "POST", "/storage/upload/initiate", request, { authorization: "Key wrong" })).toMatchObject({ status: 401 });
  const { body } = await callAt(url, "POST", "/storage/upload/initiate", request);
  const { upload_url: to, file_url: image } = body as { upload_url: string; file_url: string };
  expect(await submit(image)).toMatchObject(unreadable);
  expect((await fetch(to, { method: "PUT" })).status).toBe(400);
  expect((await fetch(to, { method: "PUT", body: "bytes" })).status).toBe(200);
  expect(await submit(image)).toMatchObject({ status: 202 });
});
