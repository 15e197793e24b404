import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { executions } from "@nodeloom/proto";
import { asOpenAiError } from "../../src/http/openai-errors";
import { inputsOf } from "../../src/routes/openai/inputs";
import { questionOf } from "../../src/routes/openai/messages";
import { startFakeService, type FakeService } from "../support/fake-service";
import { startPlatform, type Platform, type User } from "../support/platform";

type RunCall = ServerUnaryCall<executions.RunRequest, executions.RunResponse>;
type WatchCall = ServerWritableStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>;

/** Stands for executions: what it was asked, and what it answers. */
const asked: executions.RunRequest[] = [];
let outcome: Partial<executions.Execution>;
let events: Partial<executions.WatchExecutionResponse>[] = [];

let fake: FakeService;
let platform: Platform;
let pro: User;

beforeAll(async () => {
  const execution = (executionId: string) => executions.Execution.fromPartial({ executionId, ...outcome });
  fake = await startFakeService(executions.ExecutionsServiceService, {
    run: (call: RunCall, callback: sendUnaryData<executions.RunResponse>) => {
      asked.push(call.request);
      callback(null, executions.RunResponse.fromPartial({ execution: execution(call.request.executionId) }));
    },
    getExecution: (call: { request: { executionId: string } }, callback: sendUnaryData<executions.GetExecutionResponse>) =>
      callback(null, { execution: execution(call.request.executionId) }),
    watchExecution: (call: WatchCall) => {
      for (const event of events) call.write(executions.WatchExecutionResponse.fromPartial(event));
      call.end();
    },
  });
  platform = await startPlatform({ EXECUTIONS_ADDRESS: fake.address, INFERENCE_URL: "http://127.0.0.1:9" });
  pro = await platform.createUser({ tier: "business" });
});
afterAll(async () => {
  await platform.stop();
  fake.stop();
});
beforeEach(() => {
  asked.length = 0;
  events = [];
  outcome = { status: "completed", resultJson: '{"text":"hi"}' };
});

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${pro.key!}` });
const ask = (path: string, json: unknown) => platform.send(path, { json, headers: bearer() });
const chat = (more: object = {}) =>
  ask("/v1/chat/completions", { model: "sandbox-chat", messages: [{ role: "user", content: "Say hi." }], ...more });
const inputs = (): unknown => JSON.parse(asked[0]!.inputsJson);

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

describe("OpenAI's routes", () => {
  it("take a key as Bearer, which no other route does", async () => {
    expect((await platform.send("/v1/models", { headers: bearer() })).status).toBe(200);
    expect((await platform.send("/api/models", { headers: bearer() })).status).toBe(401);
    expect((await platform.send("/v1/models")).body).toMatchObject({ error: { type: "authentication_error", code: "UNAUTHENTICATED" } });
  });

  it("list the models and own workflows that the caller may run", async () => {
    const { body } = await platform.send("/v1/models", { headers: bearer() });
    expect((body.data as { id: string }[]).map(({ id }) => id)).toContain("sandbox-chat");
  });

  it("ask a text model, and answer as chat completions do", async () => {
    const { status, body } = await chat({ max_tokens: 20, temperature: 0.5, user: "jo" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: "chat.completion",
      model: "sandbox-chat",
      choices: [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    });
    expect(inputs()).toEqual({ prompt: "Say hi.", maxTokens: 20, temperature: 0.5 });
    expect(asked[0]).toMatchObject({ metadata: { user: "jo" }, runner: { webhookUrl: "" } });
  });

  it("give turns to a model that takes them as they are, and say what was counted", async () => {
    outcome.nodes = [executions.NodeState.fromPartial({ id: "model", usage: { inputTokens: 7, outputTokens: 2 } })];
    const messages = ["user", "assistant", "user"].map((role, index) => ({ role, content: `turn ${index}` }));
    const { body } = await chat({ messages });
    expect(body.usage).toEqual({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 });
    expect(inputs()).toEqual({ prompt: "turn 2", history: messages.slice(0, 2) });
    const { text } = await chat({ messages, stream: true, stream_options: { include_usage: true } });
    expect(text).toContain('"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}\n\ndata: [DONE]');
    outcome.nodes = [];
    expect((await chat()).body).not.toHaveProperty("usage");
    expect((await chat({ stream: true })).text).not.toContain("usage");
  });

  it("ask for JSON by a schema", async () => {
    outcome.resultJson = '{"text":"…","json":{"a":1}}';
    const schema = { type: "object", properties: { a: { type: "integer" } } };
    const { body } = await chat({ response_format: { type: "json_schema", json_schema: { name: "x", schema } } });
    expect(body).toMatchObject({ choices: [{ message: { content: '{"a":1}' } }] });
    expect(JSON.parse(asked[0]!.target!.schemaJson)).toEqual(schema);
  });

  it("stream a text in pieces, the rest of it with the end, then [DONE]", async () => {
    outcome.resultJson = '{"text":"one two three"}';
    events = ["one ", "two "].map((text) => ({ type: "node.delta", dataJson: JSON.stringify({ nodeId: "model", item: 0, text }) }));
    const { text } = await chat({ stream: true });
    const data = text.split("\n\n").flatMap((event) => (event.startsWith("data: ") ? [event.slice("data: ".length)] : []));
    expect(data.at(-1)).toBe("[DONE]");
    const chunks = data
      .slice(0, -1)
      .map((each) => JSON.parse(each) as { choices: { delta: { content?: string }; finish_reason: unknown }[] });
    expect(chunks.map(({ choices: [choice] }) => choice!.delta.content ?? "")).toEqual(["", "one ", "two ", "three", ""]);
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe("stop");
    expect(asked[0]!.mode).toBe(executions.RunMode.RUN_MODE_RESPOND_ASYNC);
  });

  it("stream no text that begins anew behind one that was streamed already", async () => {
    outcome.resultJson = '{"text":"one two three"}';
    const pieces = [{ text: "one ", reset: true }, { text: "one two ", reset: true }, { text: "uno ", reset: true }, { text: "dos" }];
    events = pieces.map((piece) => ({ type: "node.delta", dataJson: JSON.stringify({ nodeId: "model", item: 0, ...piece }) }));
    const { text } = await chat({ stream: true });
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content)).toEqual(["", "one ", "two ", "three"]);
  });

  it("stream what a workflow gives, and no text of a node of it", async () => {
    const nodes = [{ id: "in", type: "request-input", data: { fields: [{ name: "prompt", type: "text" }] } }];
    const made = await platform.send("/api/workflows", { json: { name: "Chat", nodes, edges: [] }, headers: platform.byKey(pro) });
    events = [{ type: "node.delta", dataJson: '{"nodeId":"model","item":0,"text":"draft"}' }];
    const { text } = await chat({ model: `workflow/${String(made.body.slug)}`, stream: true });
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content)).toEqual(["", "hi"]);
  });

  it("refuse by name what a model has no input for, before anything runs", async () => {
    const { status, body } = await chat({ logit_bias: { 50256: -100 }, tools: [] });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { type: "invalid_request_error", param: "logit_bias", code: "INVALID_REQUEST" } });
    expect(asked).toEqual([]);
  });

  it.each(["constructor", "toString"])("refuse a parameter by the name %s as any other", async (name) => {
    expect((await chat({ [name]: 1 })).body).toMatchObject({ error: { code: "INVALID_REQUEST", param: name } });
  });

  it("refuse a model of another modality, and one that there isn't", async () => {
    expect((await chat({ model: "sandbox-image" })).body).toMatchObject({ error: { param: "model" } });
    expect((await chat({ model: "gpt-0" })).body).toMatchObject({ error: { type: "not_found_error", code: "MODEL_NOT_FOUND" } });
  });

  it("say of a run that failed that it is not to be repeated", async () => {
    outcome = { status: "failed", error: executions.ExecutionError.fromPartial({ code: "EXECUTION_FAILED", message: "no" }) };
    const { status, headers, body } = await chat();
    expect(status).toBe(500);
    expect(headers["x-should-retry"]).toBe("false");
    expect(body).toMatchObject({ error: { message: "no", type: "server_error", executionId: asked[0]!.executionId } });
  });

  it("put texts into vectors, as numbers or as floats in base64, with models that make such", async () => {
    outcome.resultJson = '{"text":"","json":{"vectors":[[0.5,-1],[1,0]],"tokens":9}}';
    const { body } = await ask("/v1/embeddings", { model: "local-embeddings", input: ["a", "b"] });
    expect(body).toMatchObject({ object: "list", data: [{ embedding: [0.5, -1] }, { index: 1 }], usage: { prompt_tokens: 9 } });
    expect(inputs()).toEqual({ texts: ["a", "b"] });
    const { body: packed } = await ask("/v1/embeddings", { model: "local-embeddings", input: ["a", "b"], encoding_format: "base64" });
    expect((packed.data as { embedding: string }[])[0]!.embedding).toBe("AAAAPwAAgL8=");
    expect((await ask("/v1/embeddings", { model: "sandbox-chat", input: "a" })).body).toMatchObject({ error: { param: "model" } });
  });

  it("make images, whose addresses are answered in their order", async () => {
    const files = ["a", "b"].map((name) => ({ url: `${platform.baseUrl}/media/${name}.png` }));
    outcome.resultJson = JSON.stringify({ images: files });
    const { body } = await ask("/v1/images/generations", { model: "sandbox-image", prompt: "A hat", n: 2, size: "auto" });
    expect(body.data).toEqual(files);
    expect(inputs()).toEqual({ prompt: "A hat", count: 2 });
  });

  it("take files of forms as uploads, and remove them after the run", async () => {
    const form = new FormData();
    form.set("model", "sandbox-image");
    form.set("prompt", "A hat");
    form.append("image[]", new Blob([PNG]), "hat.png");
    outcome.resultJson = JSON.stringify({ images: [] });
    const response = await fetch(`${platform.baseUrl}/v1/images/edits`, { method: "POST", headers: bearer(), body: form });
    expect({ status: response.status, body: await response.json() }).toMatchObject({ status: 200, body: { data: [] } });
    const { image } = inputs() as { image: string };
    expect(image).toMatch(/\w/);
    const listed = await platform.send("/api/media", { headers: { "x-api-key": pro.key! } });
    expect((listed.body.rows as { id: string }[]).map(({ id }) => id)).not.toContain(image);
  });

  /** A form as a client writes it that breaks off behind its last part. */
  const partsOf = (...names: string[]): Buffer =>
    Buffer.concat(
      names.map((name) =>
        Buffer.concat([
          Buffer.from(`--edge\r\nContent-Disposition: form-data; name="${name}"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`),
          PNG,
          Buffer.from("\r\n"),
        ]),
      ),
    );
  const edit = (body: Buffer) =>
    platform.send("/v1/images/edits", { body, headers: { ...bearer(), "content-type": "multipart/form-data; boundary=edge" } });
  const uploads = async (): Promise<number> =>
    ((await platform.send("/api/media", { headers: { "x-api-key": pro.key! } })).body.rows as unknown[]).length;

  it("refuse a form that breaks off, and keep none of its files", async () => {
    const before = await uploads();
    const { status, body } = await edit(partsOf("image", "mask"));
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: "INVALID_REQUEST" } });
    expect(await uploads()).toBe(before);
  });

  it.each(["__proto__", "constructor", "toString"])("take a file's field by the name %s for what it is: no input", async (name) => {
    const model = Buffer.from('--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\nsandbox-image\r\n');
    const prompt = Buffer.from('--edge\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nA hat\r\n');
    const before = await uploads();
    const { status, body } = await edit(Buffer.concat([model, prompt, partsOf(name), Buffer.from("--edge--\r\n")]));
    expect([status, body]).toMatchObject([400, { error: { code: "INVALID_REQUEST", param: name } }]);
    expect(asked).toEqual([]);
    expect(await uploads()).toBe(before);
  });

  it("refuse a body that is no form", async () => {
    const { status, body } = await ask("/v1/audio/transcriptions", { model: "x" });
    expect(status).toBe(415);
    expect(body).toMatchObject({ error: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  });
});

describe("parameters", () => {
  const schemaOf = (...names: string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, {}])) });

  it.each([
    ["by their own name in any spelling", ["outputFormat"], { output_format: "png" }, { outputFormat: "png" }],
    ["by what models call them", ["count", "prompt"], { n: 2, input: "x" }, { count: 2, prompt: "x" }],
    ["not at all at their default", [], { n: 1, quality: "auto", top_p: 1 }, {}],
    ["as a ratio where there is no size", ["aspect_ratio"], { size: "1536x1024" }, { aspect_ratio: "3:2" }],
    ["as width and height", ["width", "height"], { size: "640x480" }, { width: 640, height: 480 }],
  ])("become inputs %s", (_, names, given, expected) => {
    expect(inputsOf(schemaOf(...names), given)).toEqual(expected);
  });

  it("become one value or a list, as the input takes it", () => {
    const list = { properties: { images: { type: "array" } } };
    expect(inputsOf(list, { image: ["a"] })).toEqual({ images: ["a"] });
    expect(inputsOf(schemaOf("image"), { image: ["a"] })).toEqual({ image: "a" });
  });
});

describe("messages", () => {
  it("are asked as they are where there is one turn, and as a transcript where there are more", () => {
    const system = { role: "system" as const, content: "Be brief." };
    const picture = { type: "image_url" as const, image_url: { url: "https://example.com/a.png" } };
    const question = { role: "user" as const, content: [{ type: "text" as const, text: "What is it?" }, picture] };
    const images = { image: ["https://example.com/a.png"] };
    for (const takesTurns of [true, false])
      expect(questionOf([system, question], takesTurns)).toEqual({ prompt: "What is it?", system: "Be brief.", ...images });
    const answer = { role: "assistant" as const, content: "A hat." };
    const turns = [question, answer, { role: "user" as const, content: "Sure?" }];
    expect(questionOf(turns, false).prompt).toBe("User: What is it?\n\nAssistant: A hat.\n\nUser: Sure?\n\nAssistant:");
    expect(questionOf(turns, true)).toEqual({ prompt: "Sure?", history: [{ role: "user", content: "What is it?" }, answer], ...images });
    // What the assistant has begun is no question.
    expect(questionOf([question, answer], true)).toEqual({ prompt: "User: What is it?\n\nAssistant: A hat.\n\nAssistant:", ...images });
  });
});

it("puts errors in OpenAI's form, with the parameter they are about", () => {
  const issues = [{ path: "size", message: "no" }];
  const { body, headers } = asOpenAiError({ status: 400, headers: {}, body: { error: "bad", code: "INVALID_REQUEST", issues } });
  expect(body).toEqual({ error: { message: "bad", type: "invalid_request_error", param: "size", code: "INVALID_REQUEST", issues } });
  expect(headers).toEqual({});
});
