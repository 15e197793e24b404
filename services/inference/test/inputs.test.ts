import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgressClient } from "@nodeloom/platform";
import { startRecorder, type Recorder } from "../../../test-support/recorder";
import { bringFiles, type FileSources } from "../src/inputs";

/** Requests to the platform's storage. */
const requestedUrls: string[] = [];
const PREFIX = "https://nodeloom.example/media/";
let server: Recorder;
let folder: string;
let sources: FileSources;
const clients = [createEgressClient()];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-inputs-"));
  server = await startRecorder((response, { path }) => {
    requestedUrls.push(path);
    response.end("sound");
  });
  const client = createEgressClient({ allow: [server.address] });
  clients.push(client);
  sources = { own: { prefix: PREFIX, base: `${server.url}/media/`, client }, other: clients[0]! };
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.close();
  await rm(folder, { recursive: true });
});

it.each(["a1.wav", "a1.wav?e=1796025600&s=KEd9sdnMtzKk2BPBKrJ7pQZLDXh-NeM-CydCjesCJss"])(
  "reads a file of the platform from its storage, by its address with or without a signature: %s",
  async (name) => {
    const fetchedFiles = await bringFiles(sources, { audio: PREFIX + name }, folder);
    expect(requestedUrls.at(-1)).toBe(`/media/${name}`);
    expect(await readFile(Object.values(fetchedFiles)[0]!, "utf8")).toBe("sound");
  },
);

it.each(["../secrets", "a/b.wav", "a1.wav#x", "a1.wav?w=1/2"])("requests nothing else from the storage: %s", async (name) => {
  const before = requestedUrls.length;
  await expect(bringFiles(sources, { audio: PREFIX + name }, folder)).rejects.toThrow("there is no such file");
  expect(requestedUrls).toHaveLength(before);
});
