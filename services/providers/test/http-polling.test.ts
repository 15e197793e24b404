import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import { providerSchema } from "../src/entries/settings";
import { createProvider, type JobProvider, type PollState, type ProviderFile, type Submission } from "../src";
import { startRecordingServer, type RecordingServer, type Reply } from "../../../test-support/recording-server";

/** Tests entries for services with jobs, as in their manuals, against a server that checks requests. */

const SECRET = "secret-of-ours-1234";
const FILM = Buffer.from("film");
let server: RecordingServer;
let egress: EgressClient;

beforeAll(async () => {
  server = await startRecordingServer();
  egress = createEgressClient({ allow: [server.address] });
});
afterAll(async () => {
  await egress.close();
  await server.stop();
});
beforeEach(() => {
  server.requests = [];
});

const bearer = { scheme: "Bearer", secretEnv: "KEY" };
const provider = (settings: Record<string, unknown>): JobProvider => {
  const whole = { kind: "http-polling", baseUrl: server.url, auth: bearer, ...settings };
  providerSchema.parse(whole);
  return createProvider(JSON.stringify(whole), { egress, secret: () => SECRET }) as JobProvider;
};
/** Responses of the server by call. */
const answers = (replies: Record<string, Reply>): void => {
  server.answer = ({ call }) => replies[call] ?? { status: 404, json: { error: `not expected: ${call}` } };
};
const submit = (target: JobProvider, inputs: Record<string, unknown> = {}): Promise<Submission> =>
  target.submit({ inputs, idempotencyKey: "k" });
const bytesOf = async (file: ProviderFile): Promise<Buffer | string> => {
  if ("url" in file) return file.url;
  const chunks: Uint8Array[] = [];
  for await (const chunk of "read" in file ? file.read() : file.bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
};
const contentsOf = async (state: PollState): Promise<(Buffer | string)[]> =>
  state.state === "succeeded" ? Promise.all(state.output.files.map(bytesOf)) : [];

describe("Black Forest Labs", () => {
  const bfl = {
    auth: { header: "x-key", secretEnv: "KEY" },
    pollHosts: ["*.bfl.ai"],
    submit: { path: "/v1/flux-2-pro", body: { prompt: { $input: "prompt" }, width: { $input: "width" } }, requestId: "/id" },
    poll: {
      url: "/polling_url",
      status: "/status",
      succeeded: ["Ready"],
      failed: ["Error", "Request Moderated", "Content Moderated", "Task not found"],
      error: "/details",
    },
    outputs: { images: "/result/sample" },
  };

  it("is polled at the address in its response", async () => {
    answers({
      "POST /v1/flux-2-pro": { json: { id: "b1", polling_url: `${server.url}/v1/get_result?id=b1` } },
      "GET /v1/get_result?id=b1": { json: { status: "Ready", result: { sample: "https://delivery.bfl.ai/x.png" } } },
    });
    const target = provider(bfl);
    const submission = await submit(target, { prompt: "a loom", width: 1024 });
    expect(submission).toEqual({ requestId: "b1", handle: { status: `${server.url}/v1/get_result?id=b1` } });
    expect(await contentsOf(await target.poll(submission))).toEqual(["https://delivery.bfl.ai/x.png"]);
    expect(server.requests.map(({ headers }) => headers["x-key"])).toEqual([SECRET, SECRET]);
  });

  it.each([
    "https://api.us1.bfl.ai/v1/get_result?id=b1", // Allowed, because it is one of the provider's own hosts.
    "https://bfl.ai.evil.com/x",
    "https://evil.com/bfl.ai",
    "http://api.us1.bfl.ai/plain",
    "https://api.us1.bfl.ai:8443/port",
    "https://user@api.us1.bfl.ai/",
    "file:///etc/passwd",
    undefined,
  ])("gets its secret only on its own hosts: %s", async (polling_url) => {
    answers({ "POST /v1/flux-2-pro": { json: { id: "b1", polling_url } } });
    const submission = submit(provider(bfl), { prompt: "x" });
    if (polling_url === "https://api.us1.bfl.ai/v1/get_result?id=b1") expect((await submission).handle).toEqual({ status: polling_url });
    else await expect(submission).rejects.toMatchObject({ kind: "failed", message: expect.stringContaining("/polling_url") as string });
  });
});

describe("OpenRouter's video", () => {
  const openRouter = {
    submit: { path: "/api/v1/videos", body: { model: "google/veo-3.1", prompt: { $input: "prompt" } }, requestId: "/id" },
    poll: { path: "/api/v1/videos/{requestId}", status: "/status", succeeded: ["completed"], failed: ["failed"], error: "/error" },
    outputs: { videos: "/unsigned_urls/*" },
    downloadWithKey: true,
  };

  it("has its result fetched with its key, as often as needed, and reports its cost", async () => {
    answers({
      "POST /api/v1/videos": { status: 202, json: { id: "v1", status: "pending" } },
      "GET /api/v1/videos/v1": {
        json: { status: "completed", unsigned_urls: [`${server.url}/api/v1/videos/v1/content?index=0`], usage: { cost: 0.4 } },
      },
      "GET /api/v1/videos/v1/content?index=0": { bytes: FILM, headers: { "content-type": "video/mp4" } },
    });
    const target = provider(openRouter);
    const state = await target.poll(await submit(target, { prompt: "x" }));
    expect(await contentsOf(state)).toEqual([FILM]);
    expect(await contentsOf(state)).toEqual([FILM]);
    expect(state).toMatchObject({ output: { answer: { usage: { cost: 0.4 } } } });
    expect(server.requests.every(({ headers }) => headers.authorization === `Bearer ${SECRET}`)).toBe(true);
  });
});

describe("Google's long-running operations", () => {
  const google = {
    auth: { header: "x-goog-api-key", secretEnv: "KEY" },
    error: { when: "/error", message: "/error/message" },
    submit: {
      path: "/v1beta/models/veo:predictLongRunning",
      body: { instances: [{ prompt: { $input: "prompt" } }], parameters: { durationSeconds: { $input: "seconds" } } },
      requestId: "/name",
    },
    poll: { path: "/v1beta/{+requestId}", status: "/done", succeeded: [true] },
    outputs: { videos: ["/response/videos/*/bytesBase64Encoded", "/response/videos/*/uri"] },
  };
  const NAME = "models/veo/operations/abc-1";
  const POLL = `GET /v1beta/${NAME}`;

  it("run until they are done, by a name that is a path", async () => {
    let polls = 0;
    server.answer = ({ call }) => {
      if (call.startsWith("POST")) return { json: { name: NAME } };
      if (call !== POLL) return { status: 404, json: {} };
      polls += 1;
      return {
        json: polls === 1 ? { name: NAME } : { done: true, response: { videos: [{ bytesBase64Encoded: FILM.toString("base64") }] } },
      };
    };
    const target = provider(google);
    const submission = await submit(target, { prompt: "x", seconds: 8 });
    expect(submission.requestId).toBe(NAME);
    expect(await target.poll(submission)).toEqual({ state: "running" });
    expect(await contentsOf(await target.poll(submission))).toEqual([FILM]);
    expect(server.requests[0]!.json()).toEqual({ instances: [{ prompt: "x" }], parameters: { durationSeconds: 8 } });
  });

  it("have failed if they are done with an error", async () => {
    answers({ [POLL]: { json: { done: true, error: { code: 3, message: "The prompt is against the rules." } } } });
    expect(await provider(google).poll({ requestId: NAME })).toEqual({ state: "failed", message: "The prompt is against the rules." });
  });

  it.each(["../models", "a/../../b", "/a", "a//b", "a?b=c", "a#b", "a/./b", "a\\b", "a%2f..", ""])(
    "are never polled elsewhere by a name such as %j",
    async (requestId) => {
      await expect(provider(google).poll({ requestId })).rejects.toMatchObject({ kind: "failed" });
      expect(server.requests).toEqual([]);
    },
  );
});

describe("MiniMax's Hailuo", () => {
  const minimax = {
    error: { when: "/base_resp/status_code", not: [0], message: "/base_resp/status_msg" },
    submit: { path: "/v1/video_generation", body: { model: "MiniMax-Hailuo-3", prompt: { $input: "prompt" } }, requestId: "/task_id" },
    poll: { path: "/v1/query/video_generation?task_id={requestId}", status: "/status", succeeded: ["Success"], failed: ["Fail"] },
    result: { path: "/v1/files/retrieve?file_id={file}&task={requestId}", values: { file: "/file_id" } },
    outputs: { videos: "/file/download_url" },
  };
  const ok = { base_resp: { status_code: 0, status_msg: "success" } };
  const POLLED = { "GET /v1/query/video_generation?task_id=7": { json: { status: "Success", file_id: 99, ...ok } } };
  const FETCHED = "GET /v1/files/retrieve?file_id=99&task=7";

  it("is called a second time for the address of its output", async () => {
    answers({ ...POLLED, [FETCHED]: { json: { file: { download_url: "https://cdn.hailuo.ai/x.mp4" }, ...ok } } });
    expect(await contentsOf(await provider(minimax).poll({ requestId: "7" }))).toEqual(["https://cdn.hailuo.ai/x.mp4"]);
  });

  it.each<[string, Reply, object]>([
    [
      "an error inside",
      { json: { base_resp: { status_code: 1004, status_msg: "no such file" } } },
      { state: "failed", message: "no such file" },
    ],
    ["a refusal", { status: 410, json: { message: "gone" } }, { state: "failed", message: "the provider answered 410: gone" }],
  ])("has failed if that call returns %s", async (_what, reply, end) => {
    answers({ ...POLLED, [FETCHED]: reply });
    expect(await provider(minimax).poll({ requestId: "7" })).toEqual(end);
  });

  it("is called again if that call fails for a moment", async () => {
    answers({ ...POLLED, [FETCHED]: { status: 503, json: {} } });
    await expect(provider(minimax).poll({ requestId: "7" })).rejects.toMatchObject({ kind: "refused", status: 503 });
  });

  it("has failed if the response has no id for it", async () => {
    answers({ "GET /v1/query/video_generation?task_id=7": { json: { status: "Success", ...ok } } });
    expect(await provider(minimax).poll({ requestId: "7" })).toMatchObject({
      state: "failed",
      message: expect.stringContaining("/file_id") as string,
    });
  });
});

describe("a job that creates text", () => {
  it("returns the text, and its JSON", async () => {
    answers({ "GET /jobs/1": { json: { state: 2, pages: [{ text: "One" }, { text: "Two" }], boxes: [[0, 1]] } } });
    const target = provider({
      submit: { path: "/jobs", body: {}, requestId: "/id" },
      poll: { path: "/jobs/{requestId}", status: "/state", succeeded: [2], failed: [3] },
      outputs: { text: "/pages/*/text", json: "/boxes" },
    });
    expect(await target.poll({ requestId: "1" })).toMatchObject({ output: { text: "One\nTwo", json: { value: [[0, 1]] }, files: [] } });
  });
});
