import { API_KEY, startSandbox, type Answer, type TestSandbox } from "./support/sandbox";

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const ask = (members: object): Promise<Answer> =>
  sandbox.call("POST", "/v1/chat/completions", {
    model: "sandbox-chat",
    messages: [{ role: "user", content: "Describe a lighthouse on a windy coast" }],
    ...members,
  });
const textOf = ({ at }: Answer): string => String(at("choices.0.message.content"));

interface Chunk {
  choices: { delta: { content?: string }; finish_reason: string | null }[];
  usage?: object;
}
const chunksOf = ({ text }: Answer): Chunk[] =>
  text
    .split("\n\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Chunk);

describe("a completion", () => {
  it("includes the prompt, is the same for the same messages and states that it comes from a sandbox", async () => {
    const first = await ask({});
    expect(first.status).toBe(200);
    expect(textOf(first)).toMatch(/^\[sandbox\] .*lighthouse/);
    expect(textOf(await ask({}))).toBe(textOf(first));
    expect(textOf(await ask({ seed: 7 }))).not.toBe(textOf(first));
    expect(first.body).toMatchObject({ object: "chat.completion", model: "sandbox-chat", choices: [{ finish_reason: "stop" }] });
  });

  it("counts about four characters per token, in and out", async () => {
    const answer = await ask({
      messages: [
        { role: "system", content: "x".repeat(100) },
        { role: "user", content: "y".repeat(60) },
      ],
    });
    const completion = Math.ceil(textOf(answer).length / 4);
    expect(answer.at("usage")).toEqual({ prompt_tokens: 40, completion_tokens: completion, total_tokens: 40 + completion });
  });

  it.each(["max_tokens", "max_completion_tokens"])("never exceeds %s, and reports it", async (limit) => {
    const answer = await ask({ [limit]: 5 });
    expect(answer.at("usage.completion_tokens")).toBe(5);
    expect(textOf(answer).length).toBeLessThanOrEqual(20);
    expect(answer.at("choices.0.finish_reason")).toBe("length");
  });

  it("accepts pictures, and answers differently to another picture", async () => {
    const withImage = (url: string): Promise<Answer> =>
      ask({
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image_url", image_url: { url } },
            ],
          },
        ],
      });
    const first = await withImage("data:image/png;base64,AAAA");
    expect(first.at("usage.prompt_tokens")).toBeGreaterThan(80);
    expect(textOf(first)).not.toBe(textOf(await withImage("https://example.com/x.png")));
  });

  it("never cuts a character in half", async () => {
    for (let tokens = 1; tokens < 30; tokens++) {
      const answer = await ask({ messages: [{ role: "user", content: `a${"😀".repeat(40)}` }], max_tokens: tokens });
      expect(textOf(answer)).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
    }
  });

  it("lists its model", async () => {
    expect((await sandbox.call("GET", "/v1/models")).at("data.0.id")).toBe("sandbox-chat");
  });
});

describe("a streamed completion", () => {
  it("adds up to the whole one and ends in [DONE], with usage on request", async () => {
    const whole = await ask({});
    const streamed = await ask({ stream: true, stream_options: { include_usage: true } });
    expect(streamed.headers.get("content-type")).toContain("text/event-stream");
    expect(streamed.text.endsWith("data: [DONE]\n\n")).toBe(true);
    const chunks = chunksOf(streamed);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(textOf(whole));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.at("usage") });
    expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: "stop" }] });
  });

  it("has no usage unless it is requested", async () => {
    const chunks = chunksOf(await ask({ stream: true }));
    expect(chunks.every(({ usage }) => usage === undefined)).toBe(true);
  });
});

describe("a slow stream", () => {
  const stream = async (latencyMs: number): Promise<number[]> => {
    const startedAt = performance.now();
    const response = await fetch(`${sandbox.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${API_KEY}` },
      body: JSON.stringify({
        model: "sandbox-chat",
        stream: true,
        messages: [{ role: "user", content: "Describe a lighthouse on a windy coast" }],
        sandbox: { latencyMs },
      }),
    });
    const at: number[] = [];
    for await (const chunk of response.body!)
      if (Buffer.from(chunk as Uint8Array).includes("content")) at.push(performance.now() - startedAt);
    return at;
  };

  it("starts late and is written slowly, in the given time", async () => {
    // On a stalled machine all chunks arrive at once. Then the test tries again with more latency.
    for (let latencyMs = 400; ; latencyMs *= 5) {
      const at = await stream(latencyMs);
      expect(at[0]).toBeGreaterThanOrEqual(latencyMs / 2 - 5);
      if (latencyMs < 10_000 && at.length <= 3) continue;
      expect(at.length).toBeGreaterThan(3);
      if (latencyMs < 10_000 && at.at(-1)! - at[0]! <= latencyMs / 4) continue;
      expect(at.at(-1)! - at[0]!).toBeGreaterThan(latencyMs / 4);
      return;
    }
  });
});

describe("bad input", () => {
  it.each<[string, object, number, string]>([
    ["no messages", { messages: [] }, 400, "messages"],
    ["an unknown role", { messages: [{ role: "robot", content: "x" }] }, 400, "messages.0.role"],
    ["too many tokens", { max_tokens: 5_000 }, 400, "max_tokens"],
    ["too hot", { temperature: 3 }, 400, "temperature"],
    ["another model", { model: "gpt-4o" }, 404, "model"],
    [
      "a picture that is no address",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] },
      400,
      "messages.0.content.0.image_url.url",
    ],
  ])("is rejected clearly: %s", async (_name, members, status, param) => {
    const answer = await ask(members);
    expect(answer.status).toBe(status);
    expect(answer.at("error.param")).toBe(param);
  });
});

describe("tools", () => {
  const tool = (name: string) => ({
    type: "function",
    function: { name, parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
  });
  const tools = [tool("weather"), tool("clock")];
  const asking = (content: string, more: object = {}, ...after: object[]): Promise<Answer> =>
    ask({ messages: [{ role: "user", content }, ...after], tools, ...more });
  const calledBy = (answer: Answer): unknown => answer.at("choices.0.message.tool_calls.0.function.name");

  it("are called: the one that the prompt names, or else the first, the same for the same prompt, with valid arguments", async () => {
    const first = await asking("Rain?");
    expect(first.body).toMatchObject({ choices: [{ message: { content: null }, finish_reason: "tool_calls" }] });
    expect(JSON.parse(String(first.at("choices.0.message.tool_calls.0.function.arguments")))).toEqual({
      city: expect.any(String) as string,
    });
    expect((await asking("Rain?")).at("choices.0.message.tool_calls")).toEqual(first.at("choices.0.message.tool_calls"));
    expect([calledBy(first), calledBy(await asking("Look at the clock."))]).toEqual(["weather", "clock"]);
    const forced = { tool_choice: { type: "function", function: { name: "clock" } } };
    expect(calledBy(await asking("Rain?", forced))).toBe("clock");
    expect(calledBy(await asking("Rain?", { tool_choice: "none" }))).toBeUndefined();
  });

  it("are not called again after they have answered: the text has their results", async () => {
    const { body } = await asking("Rain?");
    const { message } = (body as { choices: { message: { tool_calls: { id: string }[] } }[] }).choices[0]!;
    const returned = { role: "tool", tool_call_id: message.tool_calls[0]!.id, content: "It pours." };
    expect(textOf(await asking("Rain?", {}, message, returned))).toContain("It pours.");
    expect(calledBy(await asking("Rain?", { tool_choice: "required" }, message, returned))).toBe("weather");
  });

  it("are called in a stream", async () => {
    const pieces = chunksOf(await asking("Rain?", { stream: true })) as { choices: { delta: object; finish_reason: string | null }[] }[];
    expect(pieces.at(-1)!.choices[0]!.finish_reason).toBe("tool_calls");
    expect(JSON.stringify(pieces)).toContain('"name":"weather"');
  });

  it("end a text before a stop sequence", async () => {
    const whole = textOf(await ask({}));
    expect(textOf(await ask({ stop: ["lighthouse"] }))).toBe(whole.slice(0, whole.indexOf("lighthouse")));
  });
});
