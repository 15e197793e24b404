import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import { keepRecording, perform, recorder, SECRET, type Exchange, type Step } from "../support/recording";
import { freePort } from "../../../../deploy/local/servers/ports.cjs";
import { peerOf, START_MS, startPeer } from "../../../../test-support/peer";

/** Tests the dialects of Anthropic's and Google's text models against LLMock, which checks requests and breaks responses on command. */

let folder: string;
let stopPeer: () => Promise<void>;
let address: string;
let egress: EgressClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nodeloom-llmock-"));
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  stopPeer = await startPeer({
    command: peerOf("llmock"),
    args: ["-m", "llmock.cli", "serve", "--host", "127.0.0.1", "--port", String(port)],
    env: {},
    cwd: folder,
    isReady: async () => (await fetch(`${address}/_llmock/scenario`)).ok,
  });
  egress = createEgressClient({ allow: [new URL(address).host] });
}, START_MS);
afterAll(async () => {
  await egress?.close();
  await stopPeer?.();
  rmSync(folder, { recursive: true, force: true });
});

const say = async (path: string, body?: object): Promise<Response> => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${address}/_llmock/${path}`, body ? { method: "POST", headers, body: JSON.stringify(body) } : {});
  if (!answer.ok) throw new Error(`LLMock: ${answer.status} ${await answer.text()}`);
  return answer;
};
beforeEach(() => say("reset", {}));
const script = (...behaviors: object[]): Promise<Response> => say("scenario", { behaviors });

type Dialect = "anthropic" | "gemini";
const settingsOf = (dialect: Dialect, part: object = {}): Record<string, unknown> => ({
  kind: "llm",
  dialect,
  ...(dialect === "anthropic"
    ? { baseUrl: `${address}/anthropic/v1`, model: "claude-opus-4-6", auth: { header: "x-api-key", secretEnv: "KEY" } }
    : { baseUrl: `${address}/gemini/v1beta`, model: "gemini-2.5-pro", auth: { header: "x-goog-api-key", secretEnv: "KEY" } }),
  ...part,
});
const SENTENCE = "A loom weaves threads into cloth.";
const inputs = { prompt: "What is a loom?", system: "Be brief.", maxTokens: 50, temperature: 0 };
const ask: Step = { do: "run", inputs };
const streamedStep: Step = { do: "run", inputs, stream: true };

/** Executes the steps and records the exchanges. */
const run = async (dialect: Dialect, name: string, part: object, ...steps: Step[]): Promise<unknown[]> => {
  const exchanges: Exchange[] = [];
  const settings = settingsOf(dialect, part);
  const outcomes = await perform(settings, steps, recorder(egress, exchanges), SECRET);
  keepRecording(`${dialect}/${name}`, address, { source: "LLMock 0.2.0", settings, steps, outcomes, exchanges });
  return outcomes;
};

describe.each<Dialect>(["anthropic", "gemini"])("a model with the dialect %s", (dialect) => {
  it("chats, and reports its usage", async () => {
    await script({ type: "reply", text: SENTENCE });
    const [answer] = await run(dialect, "llmock", {}, ask);
    const usage = { inputTokens: expect.any(Number) as number, outputTokens: expect.any(Number) as number };
    expect(answer).toMatchObject({ text: SENTENCE, usage });
  });

  it("chats piece by piece", async () => {
    await script({ type: "reply", text: SENTENCE });
    const [answer] = (await run(dialect, "llmock-stream", { stream: true }, streamedStep)) as [{ text: string; pieces: string[] }];
    expect(answer.text).toBe(SENTENCE);
    expect(answer.pieces.length).toBeGreaterThan(3);
    expect(answer.pieces.join("")).toBe(SENTENCE);
  });

  it.each(dialect === "anthropic" ? [429, 400, 503, 529] : [429, 400, 503])(
    "rejects with status %i and its provider's message",
    async (status) => {
      await script({ type: "fail", status });
      const [answer] = await run(dialect, `llmock-${status}`, {}, ask);
      expect(answer).toMatchObject({ error: { kind: "refused", status } });
    },
  );

  it.each(["truncate", "disconnect", "malformed"])("returns no text of a stream that it breaks by %s", async (kind) => {
    await script({ type: "reply", text: SENTENCE }, { type: "stream_fault", kind, after_chunks: 3 });
    const [answer] = await perform(settingsOf(dialect, { stream: true }), [streamedStep], egress);
    expect(answer).toMatchObject({ error: { kind: "ambiguous" } });
  });
});

it("gets only valid requests: its verdict finds nothing", async () => {
  await script({ type: "reply", text: SENTENCE }, { type: "reply", text: SENTENCE });
  await run("anthropic", "llmock", {}, ask);
  await run("gemini", "llmock-stream", { stream: true }, streamedStep);
  const verdict = (await (await say("verdict")).json()) as { findings: unknown[] };
  expect(verdict.findings).toEqual([]);
});

it("returns a schema's answer through a tool of Anthropic's", async () => {
  await script({ type: "reply", tool_calls: [{ name: "answer", arguments: { city: "Ulm" } }] });
  const exchanges: Exchange[] = [];
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const step: Step = { do: "run", inputs, stream: true, schema };
  const [answer] = await perform(settingsOf("anthropic", { stream: true, structuredOutput: "tool" }), [step], recorder(egress, exchanges));
  expect(answer).toMatchObject({ text: expect.stringMatching(/^\{\s*"city":\s*"Ulm"\s*\}$/) as string });
  expect(exchanges[0]!.request.body).toMatchObject({ tool_choice: { type: "tool", name: "answer" } });
});
