import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { executions } from "@nodeloom/proto";
import { startFakeService, type FakeService } from "../../../test-support/fake-service";
import { startPlatform, type Platform, type User } from "../support/platform";

type RunCall = ServerUnaryCall<executions.RunRequest, executions.RunResponse>;
type WatchCall = ServerWritableStream<executions.WatchExecutionRequest, executions.WatchExecutionResponse>;

/** A fake executions service: its requests and its responses. */
const requests: executions.RunRequest[] = [];
let outcome: Partial<executions.Execution>;
let events: Partial<executions.WatchExecutionResponse>[] = [];

let fake: FakeService;
let platform: Platform;
let pro: User;

beforeAll(async () => {
  const execution = (executionId: string) => executions.Execution.fromPartial({ executionId, ...outcome });
  fake = await startFakeService(executions.ExecutionsServiceService, {
    run: (call: RunCall, callback: sendUnaryData<executions.RunResponse>) => {
      requests.push(call.request);
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
  requests.length = 0;
  events = [];
  outcome = { status: "completed", resultJson: '{"text":"hi"}' };
});

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${pro.key!}` });
const ask = (path: string, json: unknown) => platform.send(path, { json, headers: bearer() });
const chat = (more: object = {}) =>
  ask("/v1/chat/completions", { model: "sandbox-chat", messages: [{ role: "user", content: "Say hi." }], ...more });
const inputs = (): unknown => JSON.parse(requests[0]!.inputsJson);

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

describe("OpenAI's routes", () => {
  it("accept a key as Bearer, which no other route does", async () => {
    expect((await platform.send("/v1/models", { headers: bearer() })).status).toBe(200);
    expect((await platform.send("/api/models", { headers: bearer() })).status).toBe(401);
    expect((await platform.send("/v1/models")).body).toMatchObject({ error: { type: "authentication_error", code: "UNAUTHENTICATED" } });
  });

  it("list the models and own workflows that the caller can run", async () => {
    const { body } = await platform.send("/v1/models", { headers: bearer() });
    expect((body.data as { id: string }[]).map(({ id }) => id)).toContain("sandbox-chat");
  });

  it("call a text model, and return chat completions", async () => {
    const { status, body } = await chat({ max_tokens: 20, temperature: 0.5, user: "jo" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: "chat.completion",
      model: "sandbox-chat",
      choices: [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    });
    expect(inputs()).toEqual({ prompt: "Say hi.", maxTokens: 20, temperature: 0.5 });
    expect(requests[0]).toMatchObject({ metadata: { user: "jo" }, runner: { webhookUrl: "" } });
  });

  it("report that an answer ends at the maximum number of tokens, whole and streamed", async () => {
    outcome.nodes = [executions.NodeState.fromPartial({ id: "model", cutTexts: 1 })];
    expect((await chat()).body).toMatchObject({ choices: [{ finish_reason: "length" }] });
    expect((await chat({ stream: true })).text).toContain('"finish_reason":"length"');
  });

  it("pass turns unchanged to a model that accepts them, and report token counts", async () => {
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

  it("request JSON by a schema", async () => {
    outcome.resultJson = '{"text":"…","json":{"a":1}}';
    const schema = { type: "object", properties: { a: { type: "integer" } } };
    const { body } = await chat({ response_format: { type: "json_schema", json_schema: { name: "x", schema } } });
    expect(body).toMatchObject({ choices: [{ message: { content: '{"a":1}' } }] });
    expect(JSON.parse(requests[0]!.target!.schemaJson)).toEqual(schema);
  });

  it("stream a text in pieces, the rest at the end, then [DONE]", async () => {
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
    expect(requests[0]!.mode).toBe(executions.RunMode.RUN_MODE_RESPOND_ASYNC);
  });

  it("stream no text that restarts after a streamed part", async () => {
    outcome.resultJson = '{"text":"one two three"}';
    const pieces = [{ text: "one ", reset: true }, { text: "one two ", reset: true }, { text: "uno ", reset: true }, { text: "dos" }];
    events = pieces.map((piece) => ({ type: "node.delta", dataJson: JSON.stringify({ nodeId: "model", item: 0, ...piece }) }));
    const { text } = await chat({ stream: true });
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content)).toEqual(["", "one ", "two ", "three"]);
  });

  it("end a stream with an error if another attempt gave a different answer than the streamed one", async () => {
    outcome.resultJson = '{"text":"uno dos"}';
    const pieces = [{ text: "one ", reset: true }, { text: "uno ", reset: true }, { text: "dos" }];
    events = pieces.map((piece) => ({ type: "node.delta", dataJson: JSON.stringify({ nodeId: "model", item: 0, ...piece }) }));
    const { text } = await chat({ stream: true });
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content)).toEqual(["", "one "]);
    expect(text).not.toMatch(/"finish_reason":"|DONE/);
    const last = text.trim().split("\n\n").at(-1)!.slice("data: ".length);
    expect(JSON.parse(last)).toMatchObject({ error: { code: "EXECUTION_FAILED", executionId: requests[0]!.executionId } });
  });

  it("stream an answer with a schema as a whole, because it can be repaired", async () => {
    outcome.resultJson = '{"text":"{}","json":{"a":1}}';
    events = [{ type: "node.delta", dataJson: '{"nodeId":"model","item":0,"text":"no JSON"}' }];
    const { text } = await chat({ stream: true, response_format: { type: "json_object" } });
    expect(text).toContain('"content":"{\\"a\\":1}"');
    expect(text).not.toContain("no JSON");
  });

  it("stream a workflow's result, and no text of its nodes", async () => {
    const nodes = [{ id: "in", type: "request-input", data: { fields: [{ name: "prompt", type: "text" }] } }];
    const reply = await platform.send("/api/workflows", { json: { name: "Chat", nodes, edges: [] }, headers: platform.byKey(pro) });
    events = [{ type: "node.delta", dataJson: '{"nodeId":"model","item":0,"text":"draft"}' }];
    const { text } = await chat({ model: `workflow/${String(reply.body.slug)}`, stream: true });
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content)).toEqual(["", "hi"]);
  });

  it("reject by name parameters without an input of the model, before anything runs", async () => {
    const { status, body } = await chat({ logit_bias: { 50256: -100 }, tools: [] });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { type: "invalid_request_error", param: "logit_bias", code: "INVALID_REQUEST" } });
    expect(requests).toEqual([]);
  });

  const weather = { name: "weather", description: null, parameters: { type: "object" }, strict: true };
  const calls = [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }];

  it("give a model its tools, return its calls, and accept the tools' results", async () => {
    outcome.resultJson = JSON.stringify({ text: "", json: { tool_calls: calls } });
    const tools = [{ type: "function", function: weather }];
    const { body } = await chat({ tools, tool_choice: "auto", parallel_tool_calls: false, top_p: 0.5, stop: "END" });
    const { description: _, ...functionFields } = weather;
    expect(inputs()).toEqual({
      prompt: "Say hi.",
      tools: [{ type: "function", function: functionFields }],
      ...{ tool_choice: "auto", parallel_tool_calls: false, top_p: 0.5, stop: ["END"] },
    });
    expect(body).toMatchObject({ choices: [{ message: { content: null, tool_calls: calls }, finish_reason: "tool_calls" }] });
    const { text } = await chat({ tools, stream: true });
    expect(text).toContain(`"delta":{"tool_calls":[${JSON.stringify({ index: 0, ...calls[0] })}]}`);
    expect(text).toContain('"finish_reason":"tool_calls"');
    requests.length = 0;
    const messages = [
      { role: "user", content: "Rain?" },
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "It pours." }] },
    ];
    await chat({ messages, tools });
    expect(inputs()).toMatchObject({
      prompt: "Rain?",
      steps: [
        { role: "assistant", content: "", tool_calls: calls },
        { role: "tool", content: "It pours.", tool_call_id: "call_1" },
      ],
    });
  });

  it("reject tools and tool turns for models that support none, and omit tool parameters without tools", async () => {
    const tools = [{ type: "function", function: weather }];
    expect((await chat({ model: "local-chat", tools })).body).toMatchObject({ error: { param: "tools" } });
    const messages = [{ role: "user", content: "a" }, { role: "assistant", tool_calls: calls }]; // prettier-ignore
    expect((await chat({ model: "local-chat", messages })).body).toMatchObject({ error: { param: "messages" } });
    expect(requests).toEqual([]);
    await chat({ tools: [], tool_choice: "none", parallel_tool_calls: true });
    expect(inputs()).toEqual({ prompt: "Say hi." });
  });

  it("accept an assistant's turn with null content, but no user's", async () => {
    const turns = (role: string) => [{ role: "user", content: "a" }, { role, content: null }, { role: "user", content: "b" }]; // prettier-ignore
    expect((await chat({ messages: turns("assistant") })).status).toBe(200);
    expect(inputs()).toEqual({ prompt: "b", history: [{ role: "user", content: "a" }, { role: "assistant", content: "" }] }); // prettier-ignore
    expect((await chat({ messages: turns("user") })).body).toMatchObject({ error: { param: "messages.1.content" } });
  });

  const respond = (more: object) => ask("/v1/responses", { model: "sandbox-chat", input: "Say hi.", ...more });

  it("respond like the Responses API, whose conversation is part of each request", async () => {
    outcome.nodes = [executions.NodeState.fromPartial({ id: "model", usage: { inputTokens: 7, outputTokens: 2 } })];
    const { status, body } = await respond({ instructions: "Be brief.", max_output_tokens: 20, store: false, metadata: { a: "b" } });
    expect(status).toBe(200);
    const id = requests[0]!.executionId;
    expect(body).toMatchObject({
      ...{ id: `resp_${id}`, object: "response", status: "completed", error: null, store: false, metadata: { a: "b" } },
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi", annotations: [] }] }],
      usage: { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
    });
    expect(inputs()).toEqual({ prompt: "Say hi.", system: "Be brief.", maxTokens: 20 });
    outcome.nodes = [];
    for (const member of ["previous_response_id", "conversation"])
      expect((await respond({ [member]: "x" })).body).toMatchObject({ error: { param: member, code: "INVALID_REQUEST" } });
    expect((await respond({ background: true })).body).toMatchObject({ error: { param: "background" } });
  });

  it("call tools as the Responses API does", async () => {
    outcome.resultJson = JSON.stringify({ text: "", json: { tool_calls: calls } });
    const tools = [{ type: "function", ...weather }];
    const input = [
      { role: "user", content: [{ type: "input_text", text: "Rain?" }] },
      { type: "reasoning", summary: [] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look.", annotations: [] }] },
      { type: "function_call", call_id: "call_0", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_0", output: "fog" },
    ];
    const { body } = await respond({ input, tools, tool_choice: { type: "function", name: "weather" } });
    const { description: _, ...functionFields } = weather;
    expect(inputs()).toEqual({
      prompt: "Rain?",
      steps: [
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "call_0", type: "function", function: { name: "weather", arguments: "{}" } }],
        },
        { role: "tool", content: "fog", tool_call_id: "call_0" },
      ],
      tools: [{ type: "function", function: functionFields }],
      tool_choice: { type: "function", function: { name: "weather" } },
    });
    expect(body.output).toMatchObject([{ type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' }]);
    expect((await respond({ tools: [{ type: "web_search" }] })).body).toMatchObject({ error: { param: "tools.0.type" } });
    expect((await respond({ input: [{ type: "item_reference", id: "x" }] })).body).toMatchObject({ error: { param: "input" } });
  });

  it("stream like the Responses API: numbered events that build the response", async () => {
    outcome.resultJson = JSON.stringify({ text: "one two", json: { tool_calls: calls } });
    events = [{ type: "node.delta", dataJson: '{"nodeId":"model","item":0,"text":"one ","reset":true}' }];
    const { text } = await respond({ stream: true, tools: [{ type: "function", ...weather }] });
    const all = text.trim().split("\n\n").map((one) => one.split("\n").map((line) => line.replace(/^(event|data): /, ""))); // prettier-ignore
    const sentEvents = all.map(
      ([, data]) => JSON.parse(data!) as { type: string; sequence_number: number; delta?: string; response?: { output: unknown } },
    );
    expect(all.map(([name]) => name)).toEqual(sentEvents.map(({ type }) => type));
    expect(sentEvents.map(({ sequence_number: number }) => number)).toEqual(sentEvents.map((_, index) => index));
    expect(sentEvents.map(({ type }) => type.replace("response.", ""))).toEqual([
      ...["created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "output_text.delta"],
      ...["output_text.done", "content_part.done", "output_item.done"],
      ...["output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done", "completed"],
    ]);
    expect(sentEvents.flatMap(({ type, delta }) => (type === "response.output_text.delta" ? [delta] : []))).toEqual(["one ", "two"]);
    expect(sentEvents.at(-1)!.response!.output).toMatchObject([{ content: [{ text: "one two" }] }, { call_id: "call_1" }]);
    outcome = { status: "failed", error: executions.ExecutionError.fromPartial({ code: "EXECUTION_FAILED", message: "no" }) };
    expect((await respond({ stream: true })).text).toMatch(/event: response\.failed\n.*"code":"EXECUTION_FAILED","message":"no"/);
  });

  it("read one model or workflow that the caller can run, and no other", async () => {
    const reply = await platform.send("/api/workflows", { json: { name: "Read me", nodes: [], edges: [] }, headers: platform.byKey(pro) });
    const name = `workflow/${String(reply.body.slug)}`;
    for (const path of ["sandbox-chat", encodeURIComponent(name), name])
      expect(await platform.send(`/v1/models/${path}`, { headers: bearer() })).toMatchObject({
        status: 200,
        body: { id: decodeURIComponent(path), object: "model" },
      });
    for (const path of ["no-such", "Not%20a%20slug", "workflow%2Fno-such", "workflow/no-such"])
      expect(await platform.send(`/v1/models/${path}`, { headers: bearer() })).toMatchObject({
        status: 404,
        body: { error: { type: "not_found_error" } },
      });
  });

  it.each([
    ["an unknown path", "/v1/assistants", 404],
    ["another method", "/v1/chat/completions", 405],
    ["a path that isn't text", "/v1/models/%E0%A4%A", 400],
  ])("return %s in OpenAI's form, and mark it as not retryable", async (_, path, status) => {
    const answer = await platform.send(path, { headers: bearer() });
    expect([answer.status, answer.headers["x-should-retry"]]).toEqual([status, "false"]);
    expect(answer.body).toMatchObject({ error: { message: expect.any(String) as string, param: null } });
  });

  it.each(["constructor", "toString"])("reject a parameter named %s like any other", async (name) => {
    expect((await chat({ [name]: 1 })).body).toMatchObject({ error: { code: "INVALID_REQUEST", param: name } });
  });

  it("reject a model of another modality, and an unknown one", async () => {
    expect((await chat({ model: "sandbox-image" })).body).toMatchObject({ error: { param: "model" } });
    expect((await chat({ model: "gpt-0" })).body).toMatchObject({ error: { type: "not_found_error", code: "MODEL_NOT_FOUND" } });
  });

  it("mark a failed run as not retryable", async () => {
    outcome = { status: "failed", error: executions.ExecutionError.fromPartial({ code: "EXECUTION_FAILED", message: "no" }) };
    const { status, headers, body } = await chat();
    expect(status).toBe(500);
    expect(headers["x-should-retry"]).toBe("false");
    expect(body).toMatchObject({ error: { message: "no", type: "server_error", executionId: requests[0]!.executionId } });
  });

  it("convert texts to vectors, as numbers or as base64 floats, with embedding models", async () => {
    outcome.resultJson = '{"text":"","json":{"vectors":[[0.5,-1],[1,0]],"tokens":9}}';
    const { body } = await ask("/v1/embeddings", { model: "local-embeddings", input: ["a", "b"] });
    expect(body).toMatchObject({ object: "list", data: [{ embedding: [0.5, -1] }, { index: 1 }], usage: { prompt_tokens: 9 } });
    expect(inputs()).toEqual({ texts: ["a", "b"] });
    const { body: packed } = await ask("/v1/embeddings", { model: "local-embeddings", input: ["a", "b"], encoding_format: "base64" });
    expect((packed.data as { embedding: string }[])[0]!.embedding).toBe("AAAAPwAAgL8=");
    expect((await ask("/v1/embeddings", { model: "sandbox-chat", input: "a" })).body).toMatchObject({ error: { param: "model" } });
  });

  it("convert as many texts to vectors as OpenAI accepts, in runs as large as the model allows, including texts sent as tokens", async () => {
    outcome.resultJson = JSON.stringify({ json: { vectors: Array(50).fill([1]), tokens: 3 } });
    const many = Array.from({ length: 100 }, (_, index) => `text ${index}`);
    const { body } = await ask("/v1/embeddings", { model: "local-embeddings", input: many });
    expect([(body.data as object[]).length, (body.data as { index: number }[]).at(-1)!.index, body.usage]).toEqual([
      ...[100, 99],
      { prompt_tokens: 6, total_tokens: 6 },
    ]);
    expect(requests.flatMap(({ inputsJson }) => (JSON.parse(inputsJson) as { texts: string[] }).texts)).toEqual(many);
    expect(new Set(requests.map(({ executionId }) => executionId)).size).toBe(2);
    expect((await ask("/v1/embeddings", { model: "local-embeddings", input: Array(2_049).fill("a") })).body).toMatchObject({
      error: { param: "input" },
    });
    requests.length = 0;
    outcome.resultJson = '{"json":{"vectors":[[1]]}}';
    // The tokens of "hello world" in cl100k_base.
    for (const input of [[15_339, 1_917], [[15_339, 1_917]]]) await ask("/v1/embeddings", { model: "local-embeddings", input });
    expect(requests.map(({ inputsJson }) => JSON.parse(inputsJson) as unknown)).toEqual(Array(2).fill({ texts: ["hello world"] }));
    expect((await ask("/v1/embeddings", { model: "local-embeddings", input: [[1], [200_000]] })).body).toMatchObject({
      error: { param: "input.1" },
    });
  });

  it("run workflows whose text input has another name, with and without a prompt", async () => {
    const fields = [
      { name: "style", type: "select", options: ["oil"] },
      { name: "subject", type: "text" },
      { name: "photo", type: "image_upload" },
    ];
    const graph = (inputFields: object[]) => ({ nodes: [{ id: "in", type: "request-input", data: { fields: inputFields } }], edges: [] });
    const save = async (name: string, inputFields: object[]): Promise<string> => {
      const reply = await platform.send("/api/workflows", { json: { name, ...graph(inputFields) }, headers: platform.byKey(pro) });
      return `workflow/${String(reply.body.slug)}`;
    };
    const [namedSlug, without] = [await save("Postcards", fields), await save("Still", [fields[2]!])];
    outcome.resultJson = '{"images":[]}';
    for (const [model, more] of [
      [namedSlug, { prompt: "A hat" }],
      [namedSlug, {}],
      [without, { prompt: "A hat" }],
    ] as const)
      // prettier-ignore
      expect((await ask("/v1/images/generations", { model, output_format: "png", ...more })).status).toBe(200);
    expect(requests.map(({ inputsJson }) => JSON.parse(inputsJson) as unknown)).toEqual([{ subject: "A hat" }, {}, {}]);
    expect((await ask("/v1/images/generations", { model: namedSlug, prompt: "x", output_format: "webp" })).body).toMatchObject({
      error: { param: "output_format" },
    });
  });

  it("create images, and return their addresses in order", async () => {
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

  /** A client's form that ends after its last part, without the closing boundary. */
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

  it("reject a truncated form, and keep none of its files", async () => {
    const before = await uploads();
    const { status, body } = await edit(partsOf("image", "mask"));
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: "INVALID_REQUEST" } });
    expect(await uploads()).toBe(before);
  });

  it.each(["__proto__", "constructor", "toString"])("reject a file field named %s, because it isn't an input", async (name) => {
    const model = Buffer.from('--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\nsandbox-image\r\n');
    const prompt = Buffer.from('--edge\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nA hat\r\n');
    const before = await uploads();
    const { status, body } = await edit(Buffer.concat([model, prompt, partsOf(name), Buffer.from("--edge--\r\n")]));
    expect([status, body]).toMatchObject([400, { error: { code: "INVALID_REQUEST", param: name } }]);
    expect(requests).toEqual([]);
    expect(await uploads()).toBe(before);
  });

  it("reject a body that isn't a form", async () => {
    const { status, body } = await ask("/v1/audio/transcriptions", { model: "x" });
    expect(status).toBe(415);
    expect(body).toMatchObject({ error: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  });
});
