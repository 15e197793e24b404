import type { WrittenText } from "../../src/calls/texts";
import type { ModelCall } from "../../src/run/calls";
import type { CallResult } from "../../src/run/types";
import { type Gate } from "../../src/calls/gates";
import { ProviderError } from "@nodeloom/providers";
import { ATTEMPTS } from "../../src/run/timing";
import {
  type RecordedRequest,
  peer,
  usePeer,
  chat,
  PRICES,
  modelCalls,
  callOf,
  live,
  soon,
  until,
  unheard,
  says,
} from "../support/model-calls";

usePeer();

describe("a text model that streams", () => {
  const piece = (content: string): string => `data: ${JSON.stringify({ id: "c1", choices: [{ delta: { content } }] })}\n\n`;
  const streaming = { ...chat(), stream: true, auth: { secretEnv: "KEY" } };
  const run = async (raw: string): Promise<{ pieces: string[]; result: unknown }> => {
    peer.answers = () => ({ raw, headers: { "content-type": "text/event-stream; charset=utf-8" } });
    const pieces: string[] = [];
    const textStream: WrittenText = { restart: () => pieces.push("<restart>"), write: (text) => pieces.push(text) };
    const result = await modelCalls({ ...streaming, baseUrl: peer.baseUrl }, "text")
      .text(callOf({ price: PRICES.text! }), live, soon(), textStream)
      .catch((error: unknown) => error);
    return { pieces, result };
  };

  it("streams piece by piece, with the same result as a complete response", async () => {
    const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } })}\r\n\r\n`;
    const { pieces, result } = await run(`: hello\n\n${piece("Once ")}${piece("")}${piece("upon")}${usage}data: [DONE]\n\n`);
    expect(pieces).toEqual(["<restart>", "Once ", "upon"]);
    expect(result).toMatchObject({ text: "Once upon", costMicroUsd: 7, requestId: "c1", usage: { inputTokens: 3, outputTokens: 4 } });
    expect(peer.requests[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it.each<[string, string, string]>([
    ["breaks off", piece("Once "), "PROVIDER_SUBMIT_FAILED"],
    ["fails in between", `${piece("Once ")}data: {"error":{"message":"super-secret-value overloaded"}}\n\n`, "PROVIDER_SUBMIT_FAILED"],
    ["sends no JSON", `${piece("Once ")}data: {\n\n`, "PROVIDER_SUBMIT_FAILED"],
    ["says nothing", "data: [DONE]\n\n", "PROVIDER_RESPONSE_INCOMPLETE"],
  ])("returns no text if it %s", async (_name, raw, reason) => {
    const { result } = await run(raw);
    expect(result).toMatchObject({ reason });
    expect((result as Error).message).not.toContain("super-secret-value");
  });

  it("can also answer at once", async () => {
    peer.answers = () => ({ body: { choices: [{ message: { content: "whole" } }] } });
    expect((await modelCalls({ ...streaming, baseUrl: peer.baseUrl }, "text").text(callOf(), live, soon(), unheard)).text).toBe("whole");
  });
});

describe("an error in a response with status 200", () => {
  const run = async (error: unknown, more: object = {}): Promise<unknown> => {
    peer.answers = () => ({ body: { error, ...more } });
    const calls = modelCalls({ ...chat(), auth: { secretEnv: "KEY" } }, "text");
    return calls.text(callOf(), live, soon(), unheard).catch((problem: unknown) => problem);
  };

  it.each<[string, unknown, object, object]>([
    [
      "a message",
      { message: "model overloaded, try later", code: 503 },
      {},
      { message: /: the provider answered with an error: model overloaded, try later$/, providerStatus: 503 },
    ],
    ["a text", "quota used up", {}, { message: /quota used up/, providerStatus: 200 }],
    ["words beside the error", true, { detail: "no such voice" }, { message: /no such voice/, providerStatus: 200 }],
    [
      "words in place of an answer",
      undefined,
      { object: "error", message: "no such model" },
      { message: /no such model/, providerStatus: 200 },
    ],
    [
      "half an answer",
      { message: "backend died" },
      { choices: [{ message: { content: "Once" } }] },
      { message: /backend died/, providerStatus: 200 },
    ],
    [
      "a broken rule",
      { message: "not that", code: "content_policy_violation" },
      {},
      { message: /content policy does not allow this: not that/, providerStatus: 200 },
    ],
    ["our secret", { message: "bad key super-secret-value" }, {}, { message: /bad key \[secret\]/, providerStatus: 200 }],
  ])("keeps its message: %s", async (_name, error, more, { message, providerStatus }: { message?: RegExp; providerStatus?: number }) => {
    expect(await run(error, more)).toMatchObject({
      reason: "PROVIDER_SUBMIT_FAILED",
      message: expect.stringMatching(message!) as string,
      metadata: { providerStatus },
    });
  });

  it.each([null, false, undefined])("is ignored if the error is %p", async (error) => {
    expect(await run(error, { choices: [{ message: { content: "fine" } }] })).toMatchObject({ text: "fine" });
  });
});

it("reports which text ended at the maximum number of tokens, and the reason if there is none", async () => {
  const run = (message: object, finish_reason: string): Promise<unknown> => {
    peer.answers = () => ({ body: { choices: [{ message, finish_reason }] } });
    return modelCalls(chat(), "text")
      .text(callOf(), live, soon(), unheard)
      .catch((problem: unknown) => problem);
  };
  expect(await run({ content: "cut off he" }, "length")).toMatchObject({ text: "cut off he", isCut: true });
  expect(await run({ content: "whole" }, "stop")).not.toHaveProperty("isCut");
  expect(await run({ content: null, reasoning_content: "thoughts" }, "length")).toMatchObject({
    message: expect.stringContaining("the most tokens were reached before the model wrote any text") as string,
  });
});

describe("a text model that must return JSON", () => {
  const schema = { type: "array", items: { $ref: "#/$defs/a" }, $defs: { a: { type: "integer" } } };
  const schemaCall = (part: Partial<ModelCall> = {}): ModelCall => callOf({ schema, price: PRICES.text!, ...part });
  const answer = (content: string, more: object = {}): void => {
    peer.answers = () => ({ body: { choices: [{ message: { content }, ...more }] } });
  };
  const run = (call: ModelCall, settings: object = {}): Promise<CallResult> =>
    modelCalls({ ...chat(), ...settings }, "text").text(call, live, soon(), unheard);
  const structured = { structuredOutput: "json_schema" };
  const sentBody = (): Record<string, unknown> => peer.requests.at(-1)!.body as Record<string, unknown>;

  it("gets the schema as text if it has no mode for it", async () => {
    answer("<think>Two.</think>Here:\n```json\n[1,2]\n```\nHope it helps");
    expect(await run(schemaCall({ inputs: { prompt: "hi", system: "Be brief." } }))).toMatchObject({ json: { value: [1, 2] } });
    const [system, user] = sentBody().messages as { role: string; content: string }[];
    expect(system!.content).toMatch(/^Be brief\.\n\nAnswer with JSON alone/);
    expect(system!.content).toContain(JSON.stringify(schema));
    expect(user).toEqual({ role: "user", content: "hi" });
    expect(sentBody()).not.toHaveProperty("response_format");
  });

  it("gets the schema with its own mode inside an object, and the answer is unwrapped", async () => {
    answer('<think>Two.</think>{"answer":[1,2]}');
    expect(await run(schemaCall(), structured)).toMatchObject({ text: "[1,2]", json: { value: [1, 2] } });
    expect(sentBody().messages).toEqual([{ role: "user", content: "hi" }]);
    expect(sentBody().response_format).toMatchObject({
      type: "json_schema",
      json_schema: { schema: { properties: { answer: { items: { $ref: "#/properties/answer/$defs/a" } } }, required: ["answer"] } },
    });
  });

  it("gets the schema of an object unchanged", async () => {
    answer('{"answer":1}');
    expect(await run(schemaCall({ schema: { type: "object" } }), structured)).toMatchObject({ json: { value: { answer: 1 } } });
    expect(sentBody().response_format).toMatchObject({ json_schema: { schema: { type: "object" } } });
  });

  it("is charged for an answer that doesn't match, and reports the reason", async () => {
    answer('["x"]');
    const result = await run(schemaCall());
    expect(result).toMatchObject({ text: '["x"]', problems: ["0 must be a whole number"] });
    expect(result).not.toHaveProperty("json");
    expect(result.costMicroUsd).toBeGreaterThan(0);
    answer("[1,", { finish_reason: "length" });
    expect((await run(schemaCall())).problems).toEqual(["it isn't JSON", "it ends where the most tokens were reached"]);
  });

  it("gets its previous answer and the problems", async () => {
    answer("[1]");
    await run(schemaCall({ repair: { answer: "words", problems: ["it isn't JSON", "title must be short"] } }));
    expect((sentBody().messages as unknown[]).slice(1)).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: "words" },
      { role: "user", content: expect.stringContaining("used: it isn't JSON; title must be short.") as string },
    ]);
  });
});

describe("a text model that doesn't respond", () => {
  it("is called again a few times", async () => {
    peer.answers = () => (peer.requests.length < ATTEMPTS.textBroken ? undefined : { body: { choices: [{ message: { content: "x" } }] } });
    expect((await modelCalls(chat(), "text").text(callOf(), live, soon(), unheard)).text).toBe("x");
    peer.answers = () => undefined;
    await expect(modelCalls(chat(), "text").text(callOf(), live, soon(), unheard)).rejects.toMatchObject({
      reason: "PROVIDER_SUBMIT_FAILED",
    });
    expect(peer.requests).toHaveLength(2 * ATTEMPTS.textBroken);
  });

  it("is called until it can be reached, but only while there is time", async () => {
    let refusals = 3;
    const gate: Gate = {
      pass: (work) => (refusals-- > 0 ? Promise.reject(new ProviderError("unreachable", "connection refused")) : work()),
    };
    peer.answers = () => ({ body: { choices: [{ message: { content: "x" } }] } });
    expect((await modelCalls(chat(), "text", gate).text(callOf(), live, soon(), unheard)).text).toBe("x");
    refusals = 100;
    await expect(modelCalls(chat(), "text", gate).text(callOf(), live, until(300), unheard)).rejects.toMatchObject({
      reason: "EXECUTION_FAILED",
    });
  });
});

describe("a busy text model", () => {
  it("is awaited", async () => {
    peer.answers = () => (peer.requests.length < 3 ? says(429, "0") : { body: { choices: [{ message: { content: "x" } }] } });
    expect((await modelCalls(chat(), "text").text(callOf(), live, soon(), unheard)).text).toBe("x");
  });

  it("is not awaited beyond the deadline", async () => {
    peer.answers = () => says(503, "3600");
    await expect(modelCalls(chat(), "text").text(callOf(), live, soon(), unheard)).rejects.toMatchObject({
      metadata: { providerStatus: 503 },
    });
  });

  it("is not awaited after a cancellation", async () => {
    const cancelled = new AbortController();
    peer.answers = () => {
      cancelled.abort();
      return says(429, "50");
    };
    await expect(modelCalls(chat(), "text").text(callOf(), cancelled.signal, soon(), unheard)).rejects.toThrow();
    expect(peer.requests).toHaveLength(1);
  });
});

describe("a call of a text model", () => {
  it("limits a text with the model's own parameter, and no other", async () => {
    peer.answers = () => ({ body: { choices: [{ message: { content: "x" } }] } });
    const limits = async (settings: Record<string, unknown>): Promise<unknown> => {
      peer.requests = [];
      await modelCalls(settings, "text").text(callOf({ inputs: { prompt: "hi", maxTokens: 7 } }), live, soon(), unheard);
      const [{ body }] = peer.requests as [RecordedRequest];
      return Object.fromEntries(Object.entries(body).filter(([name]) => /tokens/i.test(name)));
    };
    expect(await limits(chat())).toEqual({ max_tokens: 7 });
    expect(await limits(chat({ tokenLimit: "max_completion_tokens" }))).toEqual({ max_completion_tokens: 7 });
    expect(await limits(chat({ tokenLimit: "max_completion_tokens", stream: true }))).toEqual({ max_completion_tokens: 7 });
  });

  it("is priced by an estimate if it doesn't count its tokens", async () => {
    peer.answers = () => ({ body: { choices: [{ message: { content: "y".repeat(400) } }] } });
    const { costMicroUsd } = await modelCalls(chat(), "text").text(
      callOf({ inputs: { prompt: "x".repeat(40) }, price: PRICES.text! }),
      live,
      soon(),
      unheard,
    );
    expect(costMicroUsd).toBe(10 + 100);
  });
});
