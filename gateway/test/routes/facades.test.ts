import { status as grpc, type sendUnaryData, type ServerUnaryCall, type ServerWritableStream } from "@grpc/grpc-js";
import { executions } from "@nodeloom/proto";
import { asFalError } from "../../src/http/fal-errors";
import { asReplicateError } from "../../src/http/replicate-errors";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import { send as sendTo } from "../support/http";
import { startPlatform, type Platform, type User } from "../support/platform";

type Call<Q, A> = [call: ServerUnaryCall<Q, A>, callback: sendUnaryData<A>];

/** A fake executions service: its requests and its responses. */
const requests: executions.RunRequest[] = [];
let run: Partial<executions.Execution>;
/** Pieces of text that the run writes. */
let pieces: string[] = [];
let cancelStatus = "cancel_requested";

let fake: FakeService;
let platform: Platform;
let user: User;

beforeAll(async () => {
  // Only names and parameters of models that can run matter.
  Object.assign(process.env, { FAL_KEY: "fal", REPLICATE_API_TOKEN: "replicate" });
  const stored = (executionId: string) => executions.Execution.fromPartial({ executionId, createdAt: new Date(), keyId: "k", ...run });
  fake = await startFakeService(executions.ExecutionsServiceService, {
    run: (...[{ request }, callback]: Call<executions.RunRequest, executions.RunResponse>) => {
      requests.push(request);
      callback(null, executions.RunResponse.fromPartial({ execution: stored(request.executionId) }));
    },
    getExecution: (...[{ request }, callback]: Call<executions.GetExecutionRequest, executions.GetExecutionResponse>) =>
      callback(null, { execution: stored(request.executionId) }),
    watchExecution: (call: ServerWritableStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>) => {
      for (const text of pieces) call.write(event("node.delta", { nodeId: "model", item: 0, text }));
      endRun("completed", { resultJson: '{"text":"one two three"}' });
      call.write(event("execution.completed"));
      call.end();
    },
    cancelExecution: (...[, callback]: Call<executions.CancelExecutionRequest, executions.CancelExecutionResponse>) =>
      callback(null, { status: cancelStatus }),
    listExecutions: (...[{ request }, callback]: Call<executions.ListExecutionsRequest, executions.ListExecutionsResponse>) =>
      request.cursor === "lost"
        ? callback({ code: grpc.UNAVAILABLE })
        : callback(null, { executions: [stored(ID)], nextCursor: request.cursor === "" ? "a b" : "" }),
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address });
  user = await platform.createUser({ tier: "business" });
});
afterAll(async () => {
  delete process.env.FAL_KEY;
  delete process.env.REPLICATE_API_TOKEN;
  await platform.stop();
  fake.stop();
});
beforeEach(() => {
  requests.length = 0;
  cancelStatus = "cancel_requested";
  pieces = [];
  run = { status: "processing", modelIds: ["flux-schnell"] };
});

const ID = "1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11";
const fileHere = (): { url: string } => ({ url: `${platform.baseUrl}/media/med_1.png` });
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const event = (type: string, data: object = {}): executions.WatchExecutionResponse =>
  executions.WatchExecutionResponse.fromPartial({ type, dataJson: JSON.stringify(data) });
const inputs = (): unknown => JSON.parse(requests[0]!.inputsJson);
const endRun = (status: string, more: Partial<executions.Execution> = {}): void => {
  const finishedAt = new Date(Date.now() + 1_500);
  run = { status, modelIds: ["flux-schnell"], durationMs: 1_500, createdAt: new Date(), finishedAt, ...more };
};

describe("fal's API", () => {
  const send = (method: string, path: string, json?: unknown) =>
    platform.send(`/fal/${path}`, { method, headers: { authorization: `Key ${user.key!}` }, ...(json === undefined ? {} : { json }) });

  it("accepts a key as `Key`, and returns errors in fal's form", async () => {
    expect((await platform.send("/fal/fal-ai/flux/schnell", { json: {} })).body).toMatchObject({ detail: expect.any(String) as unknown });
    const headers = { authorization: `Key ${user.key!}` };
    expect((await platform.send("/api/models", { headers })).status).toBe(401);
    expect((await platform.send("/fal/nobody/nothing", { json: {}, headers })).body).toMatchObject({ error_type: "MODEL_NOT_FOUND" });
    expect((await platform.send("/fal/", { headers })).body).toMatchObject({ detail: expect.any(String) as unknown });
  });

  it("runs a model by fal's name, with the inputs that fal's parameters set", async () => {
    const modelInputs = { prompt: "a loom", num_images: 2, image_size: "square", sync_mode: true };
    const { status, body, headers } = await send("POST", "fal-ai/flux/schnell", modelInputs);
    expect(status).toBe(200);
    const [id] = [requests[0]!.executionId];
    const response = `${platform.baseUrl}/fal/fal-ai/flux/requests/${id}`;
    expect(body).toMatchObject({ status: "IN_QUEUE", request_id: id, response_url: response, cancel_url: `${response}/cancel` });
    expect(headers["x-fal-request-id"]).toBe(id);
    expect(requests[0]!.target?.target).toEqual({ $case: "model", value: "flux-schnell" });
    expect(requests[0]!.mode).toBe(executions.RunMode.RUN_MODE_RESPOND_ASYNC);
    // Unknown inputs stay, so that the run rejects them by name.
    expect(inputs()).toEqual({ prompt: "a loom", count: 2, image_size: "square", sync_mode: true });
  });

  it("reads back parameters that are made from an input, and omits those that never change", async () => {
    await send("POST", "fal-ai/veo3.1/image-to-video", { image_url: "https://example.com/a.png", duration: "8s" });
    expect(inputs()).toEqual({ image: "https://example.com/a.png", seconds: 8 });
    requests.length = 0;
    await send("POST", "fal-ai/nano-banana-2/edit", { image_urls: ["https://a.example/1.png", "https://a.example/2.png"] });
    expect(inputs()).toEqual({ image: "https://a.example/1.png", image_2: "https://a.example/2.png" });
    requests.length = 0;
    await send("POST", "fal-ai/birefnet/v2", { image_url: "https://a.example/1.png", output_format: "png" });
    expect(inputs()).toEqual({ image: "https://a.example/1.png" });
  });

  it("reports the progress of a request, under either form of its address", async () => {
    run = { status: "processing", queued: true, position: 3 };
    const waiting = await send("GET", `fal-ai/flux/requests/${ID}/status`);
    expect([waiting.status, waiting.body.status, waiting.body.queue_position]).toEqual([202, "IN_QUEUE", 2]);
    run = { status: "processing", nodes: [executions.NodeState.fromPartial({ id: "model", startedAt: new Date() })] };
    const going = await send("GET", `fal-ai/flux/schnell/requests/${ID}/status?logs=1`);
    expect(going.body).toMatchObject({ status: "IN_PROGRESS", logs: [{ message: "model started" }] });
    expect((await send("GET", `fal-ai/flux/requests/${ID}`)).body).toEqual({ detail: "Request is still in progress" });
    endRun("completed");
    const over = await send("GET", `fal-ai/flux/requests/${ID}/status`);
    expect([over.status, over.body.status, over.body.logs, over.body.metrics]).toEqual([200, "COMPLETED", [], { inference_time: 1.5 }]);
  });

  it("returns the result unchanged, and failures with the status of their code", async () => {
    endRun("completed", { resultJson: JSON.stringify({ images: [fileHere()] }) });
    expect((await send("GET", `fal-ai/flux/requests/${ID}`)).body).toEqual({ images: [fileHere()] });
    endRun("failed", { error: { code: "EXECUTION_FAILED", message: "the model failed" } });
    const status = await send("GET", `fal-ai/flux/requests/${ID}/status`);
    expect(status.body).toMatchObject({ status: "COMPLETED", error: "the model failed", error_type: "EXECUTION_FAILED" });
    const failed = await send("GET", `fal-ai/flux/requests/${ID}`);
    expect([failed.status, failed.body.detail, failed.headers["x-fal-error-type"]]).toEqual([500, "the model failed", "EXECUTION_FAILED"]);
  });

  /** Asks for an address as fal's libraries do, and sends a file there without a key. */
  const upload = async (bytes = PNG, type = "application/octet-stream") => {
    const { body } = await send("POST", "rest/storage/upload/initiate?storage_type=fal-cdn-v3", { file_name: "boat.png" });
    const addresses = body as unknown as { upload_url: string; file_url: string };
    const headers = { "content-type": type };
    const response = await fetch(addresses.upload_url, { method: "PUT", body: new Uint8Array(bytes), headers });
    return { ...addresses, status: response.status, stored: (await response.json()) as Record<string, unknown> };
  };

  it("takes an upload without a key at the address it gave, and uses its other address as an input", async () => {
    const { status, stored, upload_url: uploadUrl, file_url: fileUrl } = await upload();
    expect([status, stored]).toEqual([200, { id: expect.any(String) as unknown, content_type: "image/png", size: PNG.length }]);
    const again = await fetch(uploadUrl, { method: "PUT", body: new Uint8Array(Buffer.concat([PNG, PNG])) });
    expect(await again.json()).toEqual(stored);
    const opened = await fetch(fileUrl);
    expect([opened.status, Buffer.from(await opened.arrayBuffer())]).toEqual([200, PNG]);
    expect(opened.url).toMatch(/\/media\/[0-9a-f]{32}\.png\?e=\d+&s=/);
    await send("POST", "fal-ai/nano-banana-2/edit", { prompt: `like ${fileUrl}`, image_urls: [fileUrl] });
    const stem = opened.url.split("?")[0];
    expect(inputs()).toEqual({ prompt: `like ${fileUrl}`, image: stem });
  });

  it("rejects altered addresses, files of other accounts, and files that never arrived", async () => {
    const { file_url: fileUrl, upload_url: uploadUrl } = await upload();
    const put = (url: string) => fetch(url, { method: "PUT", body: new Uint8Array(PNG) });
    const altered = await put(`${uploadUrl.slice(0, -2)}AA`);
    expect([altered.status, ((await altered.json()) as { code: string }).code]).toEqual([403, "MEDIA_URL_EXPIRED"]);
    expect((await put(uploadUrl.replace(/[^/]+$/, fileUrl.split("/").at(-1)!))).status).toBe(403);
    expect((await fetch(`${fileUrl}x`)).status).toBe(403);
    const stranger = await platform.createUser({ tier: "business" });
    const headers = { authorization: `Key ${stranger.key!}` };
    const foreign = await platform.send("/fal/fal-ai/flux/schnell", { json: { image: fileUrl }, headers });
    expect([foreign.status, foreign.body.detail]).toEqual([
      422,
      [{ loc: ["body", "image"], msg: expect.any(String) as unknown, type: "value_error" }],
    ]);
    const { body } = await send("POST", "rest/storage/upload/initiate", {});
    const missing = await send("POST", "fal-ai/flux/schnell", { image: body.file_url });
    expect([missing.status, JSON.stringify(missing.body.detail)]).toEqual([422, expect.stringContaining("never arrived") as unknown]);
    expect(requests).toEqual([]);
  });

  it("checks uploads as those of the media API: rights, type, and size", async () => {
    const json = { name: "runner", capabilities: ["model:run"] };
    const runner = await platform.send("/api/keys", { json, headers: platform.bySession(user) });
    const headers = { authorization: `Key ${String(runner.body.key)}` };
    const path = "/fal/rest/storage/upload/initiate";
    expect((await platform.send(path, { json: {}, headers })).body).toMatchObject({ error_type: "CAPABILITY_DENIED" });
    expect((await platform.send(path, { json: {} })).status).toBe(401);
    const form = await upload(PNG, "multipart/form-data");
    expect(form).toMatchObject({ status: 415, stored: { error_type: "UNSUPPORTED_MEDIA_TYPE" } });
    expect(await upload(Buffer.alloc(0))).toMatchObject({ status: 422 });
    const parts = await send("POST", "rest/storage/upload/initiate-multipart", { file_name: "film.mp4" });
    expect([parts.status, parts.body.error_type]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it("cancels, and reports that the client cancelled the request", async () => {
    const cancelled = await send("PUT", `fal-ai/flux/requests/${ID}/cancel`);
    expect([cancelled.status, cancelled.body]).toEqual([202, { status: "CANCELLATION_REQUESTED" }]);
    cancelStatus = "already_completed";
    const late = await send("PUT", `fal-ai/flux/requests/${ID}/cancel`);
    expect([late.status, late.body]).toEqual([400, { status: "ALREADY_COMPLETED" }]);
    endRun("cancelled");
    const result = await send("GET", `fal-ai/flux/requests/${ID}`);
    expect([result.status, result.body.error_type]).toEqual([499, "client_cancelled"]);
  });

  it("waits for the result if requested, and returns no status that a library retries after a run was accepted", async () => {
    endRun("completed", { resultJson: JSON.stringify({ images: [fileHere()] }) });
    expect((await send("POST", "run/nodeloom/sandbox-image", { prompt: "a loom" })).body).toMatchObject({
      images: [{ url: fileHere().url }],
    });
    expect(requests[0]).toMatchObject({ mode: executions.RunMode.RUN_MODE_SYNC, waitMs: 600_000 });
    run = { status: "processing" };
    const late = await send("POST", "run/nodeloom/sandbox-image", { prompt: "a loom" });
    expect([late.status, late.body.executionId]).toEqual([500, requests[1]!.executionId]);
  });

  it("serves its proxy's requests for fal's hosts, and no others", async () => {
    const ask = (target: string) =>
      sendTo(platform.baseUrl, "/fal/proxy", { json: {}, headers: { authorization: `Key ${user.key!}`, "x-fal-target-url": target } });
    expect((await ask("https://queue.fal.run/nodeloom/sandbox-image")).body).toMatchObject({ status: "IN_QUEUE" });
    const upload = await ask("https://rest.fal.ai/storage/upload/initiate?storage_type=fal-cdn-v3");
    expect(upload.body).toEqual({ upload_url: expect.any(String) as unknown, file_url: expect.any(String) as unknown });
    endRun("completed", { resultJson: '{"text":"hi"}' });
    expect((await ask("https://fal.run/nodeloom/sandbox-image")).body).toEqual({ text: "hi" });
    requests.length = 0;
    for (const target of [
      "https://v3.fal.media/files/upload",
      "http://fal.run/nodeloom/sandbox-image",
      "https://fal.run@example.com/a/b",
      "no address",
    ]) {
      const { status, body } = await ask(target);
      expect([target, status, body.error_type]).toEqual([target, 422, "INVALID_REQUEST"]);
    }
    expect(requests).toEqual([]);
  });

  it("streams a request's events until it ends", async () => {
    const { text } = await send("GET", `fal-ai/flux/requests/${ID}/status/stream`);
    const states = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => (JSON.parse(data!) as { status: string }).status);
    expect(states).toEqual(["IN_PROGRESS", "COMPLETED"]);
    expect(text).not.toContain("event:");
  });

  it("names invalid inputs in the form of fal's validation", async () => {
    const { status, body } = await send("POST", "workflow/UPPER", {});
    expect([status, body.error_type]).toEqual([404, "MODEL_NOT_FOUND"]);
    const wrong = await send("POST", "nodeloom/sandbox-image", [] as unknown);
    expect([wrong.status, wrong.body.detail]).toEqual([422, [{ loc: ["body"], msg: "the body must be an object", type: "value_error" }]]);
  });
});

it("names the node of a workflow that can't run, in both forms", () => {
  const issues = [{ nodeId: "cut", path: "image", message: "image: is required" }];
  const reply = { status: 422, headers: {}, body: { error: "the workflow can't run", code: "WORKFLOW_INVALID", issues } };
  expect(asFalError(reply).body.detail).toEqual([{ loc: ["body"], msg: "cut: image: is required", type: "value_error" }]);
  expect(asReplicateError(reply).body).toMatchObject({ detail: "- cut: image: is required\n", invalid_fields: [{ field: "" }] });
});

describe("Replicate's API", () => {
  const send = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    platform.send(`/replicate/v1/${path}`, {
      ...{ method, headers: { authorization: `Bearer ${user.key!}`, ...headers } },
      ...(json === undefined ? {} : { json }),
    });
  const create = (json: unknown, headers: Record<string, string> = {}) => send("POST", "predictions", json, headers);

  it("accepts a key as `Bearer` or `Token`, and returns errors in the form of RFC 7807", async () => {
    expect((await send("GET", `predictions/${ID}`, undefined, { authorization: `Token ${user.key!}` })).status).toBe(200);
    const { status, body } = await platform.send("/replicate/v1/predictions");
    expect([status, body.title, body.status]).toEqual([401, "Unauthorized", 401]);
  });

  it("runs a model by Replicate's name, with the inputs that its parameters set", async () => {
    run.modelIds = ["replicate-flux-schnell"];
    const input = { prompt: "a loom", num_outputs: 2, output_format: "png" };
    const { status, body } = await send("POST", "models/black-forest-labs/flux-schnell/predictions", { input });
    expect([status, body.status, body.model, body.version]).toEqual([201, "starting", "nodeloom/replicate-flux-schnell", "hidden"]);
    expect(body.urls).toMatchObject({ get: `${platform.baseUrl}/replicate/v1/predictions/${requests[0]!.executionId}` });
    expect(requests[0]!.target?.target).toEqual({ $case: "model", value: "replicate-flux-schnell" });
    expect(inputs()).toEqual({ prompt: "a loom", count: 2 });
  });

  it("runs the target of `version`, and rejects versions at Replicate", async () => {
    await create({ version: "nodeloom/sandbox-image", input: { prompt: "a loom" } });
    expect(requests[0]!.target?.target).toEqual({ $case: "model", value: "sandbox-image" });
    await create({ version: "sandbox-image", input: {} });
    expect(requests[1]!.target?.target).toEqual({ $case: "model", value: "sandbox-image" });
    for (const [version, number] of [
      ["workflow/poster-maker:3", "3"],
      ["poster-maker:3", "3"],
      ["poster-maker:production", ""],
    ]) {
      requests.length = 0;
      await create({ version, input: {} });
      expect(requests[0]!.target).toMatchObject({ target: { $case: "workflowSlug", value: "poster-maker" }, version: number });
    }
    const { status, body } = await create({ version: "5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa", input: {} });
    expect([status, body.title]).toEqual([422, "Input validation failed"]);
    expect(body.invalid_fields).toMatchObject([{ field: "version" }]);
  });

  it("waits as `Prefer` requests, and reports unfinished runs as `starting`, which libraries poll", async () => {
    const version = "nodeloom/sandbox-image";
    run.nodes = [executions.NodeState.fromPartial({ id: "model", startedAt: new Date() })];
    const waited = await create({ version, input: {} }, { prefer: "wait" });
    expect([waited.status, waited.body.status, requests[0]!.waitMs]).toEqual([202, "starting", 60_000]);
    expect((await send("GET", `predictions/${ID}`)).body.status).toBe("processing");
    await create({ version, input: {} }, { prefer: "wait=5" });
    expect(requests[1]).toMatchObject({ waitMs: 5_000, mode: executions.RunMode.RUN_MODE_SYNC });
    await create({ version, input: {} }, { prefer: "wait=999" });
    expect(requests[2]!.waitMs).toBe(120_000);
    expect((await create({ version, input: {} }, { prefer: "wait=soon" })).body.invalid_fields).toMatchObject([{ field: "Prefer" }]);
  });

  it("returns a result with one member as that member, with files as their addresses", async () => {
    endRun("completed", { resultJson: JSON.stringify({ images: [fileHere(), fileHere()] }), inputsJson: '{"prompt":"a loom"}' });
    const { body } = await send("GET", `predictions/${ID}`);
    expect(body).toMatchObject({ status: "succeeded", output: [fileHere().url, fileHere().url], input: { prompt: "a loom" }, error: null });
    expect((body.metrics as { total_time: number }).total_time).toBeCloseTo(1.5, 0);
    endRun("completed", {
      resultJson: JSON.stringify({ text: "hi", cover: fileHere(), page: { url: "https://example.com" } }),
      workflowSlug: "poster-maker",
      version: 3,
    });
    const prediction = (await send("GET", `predictions/${ID}`)).body;
    expect(prediction).toMatchObject({
      output: { text: "hi", cover: fileHere().url, page: { url: "https://example.com" } },
      model: "workflow/poster-maker",
      version: "3",
    });
  });

  it("reports the reason why a prediction failed", async () => {
    endRun("failed", { error: { code: "EXECUTION_FAILED", message: "the model failed" } });
    expect((await send("GET", `predictions/${ID}`)).body).toMatchObject({ status: "failed", error: "the model failed", output: null });
  });

  it("waits for the end of a cancelled prediction", async () => {
    endRun("cancelled");
    const { status, body } = await send("POST", `predictions/${ID}/cancel`);
    expect([status, body.status]).toEqual([200, "canceled"]);
  });

  it("streams the text of a model as it is written, and the rest at the end", async () => {
    pieces = ["one ", "two "];
    const { text } = await send("GET", `predictions/${ID}/stream`);
    const events = [...text.matchAll(/^id: \d+\nevent: (.*)\ndata: (.*)$/gm)].map(([, type, data]) => [type, data]);
    expect(events).toEqual([["output", "one "], ["output", "two "], ["output", "three"], ["done", "{}"]]); // prettier-ignore
  });

  it("returns models and their versions, whose ids predictions accept", async () => {
    const { body } = await send("GET", "models/nodeloom/sandbox-image");
    const version = body.latest_version as { id: string; openapi_schema: { components: { schemas: Record<string, object> } } };
    expect(body).toMatchObject({ owner: "nodeloom", name: "sandbox-image", latest_version: { id: "sandbox-image" } });
    expect(version.openapi_schema.components.schemas).toMatchObject({ Input: { required: ["prompt"] }, Output: { type: "array" } });
    expect((await send("GET", "models/nodeloom/sandbox-image/versions/sandbox-image")).body).toEqual(version);
    expect((await send("GET", "models/nodeloom/sandbox-image/versions")).body).toMatchObject({ results: [version] });
    expect((await send("GET", "models/nodeloom/sandbox-image/versions/other")).status).toBe(404);
    expect((await send("GET", "models/nobody/nothing")).body).toMatchObject({ code: "MODEL_NOT_FOUND", status: 404 });
    const fields = [{ name: "prompt", type: "text", label: "Prompt" }];
    const graph = { name: "Poster", nodes: [{ id: "in", type: "request-input", data: { fields } }], edges: [] };
    const slug = String((await platform.send("/api/workflows", { json: graph, headers: platform.byKey(user) })).body.slug);
    const workflow = (await send("GET", `models/workflow/${slug}`)).body;
    expect(workflow).toMatchObject({ visibility: "private", latest_version: { id: `${slug}:production` } });
    expect(workflow).toMatchObject({
      latest_version: { openapi_schema: { components: { schemas: { Input: { properties: { prompt: { type: "string" } } } } } } },
    });
    const listed = (await send("GET", "models")).body as unknown as { results: { owner: string; name: string }[] };
    const names = listed.results.map(({ owner, name }) => `${owner}/${name}`);
    expect(names).toEqual(expect.arrayContaining(["nodeloom/sandbox-image", "nodeloom/replicate-flux-schnell", `workflow/${slug}`]));
  });

  it("stores files without their metadata, and reads, lists and deletes them", async () => {
    const form = new FormData();
    form.append("metadata", new Blob(['{"a":1}'], { type: "application/json" }));
    form.append("content", new Blob([PNG], { type: "image/png" }), "hat.png");
    const headers = { authorization: `Bearer ${user.key!}` };
    const response = await fetch(`${platform.baseUrl}/replicate/v1/files`, { method: "POST", headers, body: form });
    const prediction = (await response.json()) as { id: string; urls: { get: string } };
    expect([response.status, prediction]).toMatchObject([201, { content_type: "image/png", size: PNG.length, urls: { get: expect.any(String) as unknown } }]); // prettier-ignore
    expect((await send("GET", `files/${prediction.id}`)).body).toMatchObject({
      id: prediction.id,
      checksums: { sha256: expect.any(String) as unknown },
    });
    expect((await send("GET", "files")).body).toMatchObject({
      results: expect.arrayContaining([expect.objectContaining({ id: prediction.id })]) as unknown,
    });
    expect((await send("DELETE", `files/${prediction.id}`)).status).toBe(204);
    expect((await send("GET", `files/${prediction.id}`)).status).toBe(404);
    const empty = await fetch(`${platform.baseUrl}/replicate/v1/files`, { method: "POST", headers, body: new FormData() });
    expect(empty.status).toBe(422);
  });

  it("lists predictions page by page, with absolute addresses", async () => {
    const first = (await send("GET", "predictions")).body as unknown as { next: string; results: unknown[] };
    expect(first).toMatchObject({ previous: null, results: [{ id: ID }] });
    expect(first.next).toBe(`${platform.baseUrl}/replicate/v1/predictions?cursor=a%20b`);
    expect((await platform.send(first.next.slice(platform.baseUrl.length), { headers: platform.byKey(user) })).body.next).toBeNull();
  });
});
