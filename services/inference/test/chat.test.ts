import { grammarSchema } from "../src/engines/chat/grammar-schema";
import { createFolder, removeFolder, startInference, type Answer, type Running } from "./support/inference";

const folder = createFolder();
let running: Running;

beforeAll(async () => {
  running = await startInference(folder);
});
afterAll(async () => {
  await running.stop();
  removeFolder(folder);
});

const ask = (content: string, more: object = {}): Promise<Answer> =>
  running.call("POST", "/v1/chat/completions", { model: "local-chat", messages: [{ role: "user", content }], ...more });
const contentOf = ({ json }: Answer): string => (json.choices as [{ message: { content: string } }])[0].message.content;

describe("a chat completion", () => {
  it("is returned whole, with its usage", async () => {
    const answer = await ask("hello");
    expect(answer.status).toBe(200);
    expect(contentOf(answer)).toBe("you said hello");
    expect(answer.json.usage).toEqual({ prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 });
  });

  it("is streamed as it is written", async () => {
    const answer = await ask("hello", { stream: true, stream_options: { include_usage: true } });
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    const events = answer.text
      .split("\n\n")
      .filter(Boolean)
      .map((line) => line.slice("data: ".length));
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as { choices: [{ delta: { content?: string } }?]; usage?: object });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("you said hello");
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.at(-1)!.usage).toEqual({ prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 });
  });

  it("passes a schema to the model", async () => {
    const schema = { type: "object", properties: { said: { type: "string" } } };
    const answer = await ask("hello", { response_format: { type: "json_schema", json_schema: { name: "a", schema } } });
    expect(JSON.parse(contentOf(answer))).toEqual({ said: "hello" });
  });

  it("can be retried if its process ended before the first output; an interrupted one just ends", async () => {
    const crashed = await ask("crash", { stream: true });
    expect([crashed.status, crashed.headers.get("retry-after")]).toEqual([503, "1"]);
    await expect(ask("break off", { stream: true })).rejects.toThrow();
    expect(contentOf(await ask("hello"))).toBe("you said hello");
  });

  it("ends when its client disconnects, and frees the model", async () => {
    const disconnect = new AbortController();
    const body = JSON.stringify({ model: "local-chat", messages: [{ role: "user", content: "hang" }] });
    const headers = { authorization: "Bearer key-of-the-test", "content-type": "application/json" };
    const leaving = fetch(`${running.base}/v1/chat/completions`, { method: "POST", headers, body, signal: disconnect.signal });
    setTimeout(() => disconnect.abort(), 300);
    await expect(leaving).rejects.toThrow();
    expect(contentOf(await ask("hello"))).toBe("you said hello");
  });
});

describe("the grammar of a schema", () => {
  it("limits every text and list, and follows references inside it", () => {
    const schema = {
      type: "object",
      properties: {
        name: { $ref: "#/$defs/name" },
        tags: { type: "array", items: { type: "string", maxLength: 9 } },
        kind: { enum: ["a", "b"] },
      },
      $defs: { name: { type: "string" } },
    };
    expect(grammarSchema(schema)).toEqual({
      type: "object",
      properties: {
        name: { type: "string", minLength: 0, maxLength: 300 },
        tags: { type: "array", items: { type: "string", minLength: 0, maxLength: 9 }, minItems: 0, maxItems: 10 },
        kind: { enum: ["a", "b"] },
      },
    });
  });

  it("rejects schemas that refer to themselves or to others", () => {
    expect(() => grammarSchema({ type: "object", properties: { again: { $ref: "#" } } })).toThrow("refers to itself");
    expect(() => grammarSchema({ $ref: "elsewhere.json" })).toThrow("leads out of the schema");
  });
});
