import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonSchema } from "@nodeloom/kernel";
import type { EgressClient, EgressRequest, EgressStream } from "@nodeloom/platform";
import { createProvider, ProviderError, type PollState, type ProviderFile, type Submission } from "../../src";

/**
 * Exchanges with providers as files. They are recorded from a real peer or written from a provider's documentation, and replayed without a
 * server. `source` names the origin.
 */

const RECORDINGS = join(__dirname, "..", "recordings");
/** Replaces the recorded peer's address. */
const PEER = "https://peer.test";
/** LiteLLM requires this prefix for keys. */
export const SECRET = "sk-secret-for-recordings";
const KEPT_HEADERS = /^(content-type|retry-after|request-id|x-request-id|x-litellm-call-id)$/;

export type Step =
  { do: "submit" | "run"; inputs: Record<string, unknown>; stream?: boolean; schema?: JsonSchema } | { do: "poll" | "cancel" };

export interface Exchange {
  request: { method: string; url: string; body?: unknown; headers?: Record<string, string> };
  response: { status: number; headers: Record<string, string>; body?: unknown; base64?: string };
}

export interface Recording {
  source: string;
  settings: Record<string, unknown>;
  steps: Step[];
  outcomes: unknown[];
  exchanges: Exchange[];
}

async function* once(bytes: Buffer): AsyncIterable<Buffer> {
  yield bytes;
}

const bodyOf = ({ body }: EgressRequest): unknown => (body === undefined ? undefined : (JSON.parse(body.toString()) as unknown));

const responseOf = (status: number, headers: Readonly<Record<string, string>>, bytes: Buffer): Exchange["response"] => {
  const keptHeaders = Object.fromEntries(Object.entries(headers).filter(([name]) => KEPT_HEADERS.test(name)));
  const type = headers["content-type"] ?? "";
  if (type.includes("json")) return { status, headers: keptHeaders, body: JSON.parse(bytes.toString()) as unknown };
  return type.startsWith("text/") || bytes.length === 0
    ? { status, headers: keptHeaders, body: bytes.toString() }
    : { status, headers: keptHeaders, base64: bytes.toString("base64") };
};

/** Passes requests on and records them. */
export const recorder = (egress: EgressClient, exchanges: Exchange[]): EgressClient => ({
  ...egress,
  stream: async (request) => {
    const answer = await egress.stream(request);
    const chunks: Buffer[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const body = bodyOf(request);
    exchanges.push({
      request: { method: request.method ?? "GET", url: request.url, ...(body === undefined ? {} : { body }) },
      response: responseOf(answer.status, answer.headers, bytes),
    });
    return { ...answer, body: once(bytes) };
  },
});

/** Returns the recorded responses, only to the recorded requests in their order. */
const replayer = (exchanges: readonly Exchange[]): EgressClient => {
  let next = 0;
  const stream = (request: EgressRequest): Promise<EgressStream> => {
    const exchange = exchanges[next++];
    const body = bodyOf(request);
    expect({ method: request.method, url: request.url, ...(body === undefined ? {} : { body }) }).toEqual(
      exchange && {
        method: exchange.request.method,
        url: exchange.request.url,
        ...(body === undefined ? {} : { body: exchange.request.body }),
      },
    );
    expect(request.headers).toMatchObject(exchange!.request.headers ?? {});
    const { status, headers, body: recordedBody, base64 } = exchange!.response;
    const bytes =
      base64 === undefined
        ? Buffer.from(typeof recordedBody === "string" ? recordedBody : JSON.stringify(recordedBody))
        : Buffer.from(base64, "base64");
    return Promise.resolve({ status, headers, body: once(bytes) });
  };
  return {
    stream,
    request: () => Promise.reject(new Error("not recorded")),
    listen: () => Promise.reject(new Error("not recorded")),
    close: () => Promise.resolve(),
  };
};

const fileOutcome = async (file: ProviderFile): Promise<unknown> => {
  if ("url" in file) return file;
  const chunks: Uint8Array[] = [];
  for await (const chunk of "read" in file ? file.read() : file.bytes) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
};

/** Outcome of a poll in the form of recordings. */
export const pollOutcome = async (state: PollState): Promise<unknown> => {
  if (state.state !== "succeeded") return state;
  const { files, text, json } = state.output;
  if (text !== null) return { state: state.state, text, ...(json ? { json: json.value } : {}) };
  return { state: state.state, files: await Promise.all(files.map(async (file) => ("url" in file ? file.url : fileOutcome(file)))) };
};

const errorOutcome = (error: unknown): unknown => {
  if (!(error instanceof ProviderError)) throw error;
  const { kind, message, status } = error;
  return { error: { kind, message, ...(status === undefined ? {} : { status }) } };
};

/** Executes the steps with one provider. Each step has one outcome. */
export const perform = async (
  settings: Record<string, unknown>,
  steps: readonly Step[],
  egress: EgressClient,
  secret = SECRET,
): Promise<unknown[]> => {
  const provider = createProvider(JSON.stringify(settings), { egress, secret: () => secret });
  let submission: Submission | undefined;
  const doStep = async (step: Step): Promise<unknown> => {
    if (step.do === "run") {
      const call = { inputs: step.inputs, idempotencyKey: "key" };
      if (provider.type === "text") {
        const pieces: string[] = [];
        const answer = await provider.run({ ...call, schema: step.schema, onText: (piece) => void pieces.push(piece) });
        return step.stream ? { ...answer, pieces } : answer;
      }
      if (provider.type !== "files") throw new Error("this provider has jobs");
      const { files, text, json, requestId } = await provider.run({ ...call, reserve: () => Promise.resolve() });
      if (text !== null) return { text, ...(json ? { json: json.value } : {}), requestId };
      return { files: await Promise.all(files.map(fileOutcome)), requestId };
    }
    if (provider.type !== "job") throw new Error("this provider has no jobs");
    if (step.do === "submit") return (submission = await provider.submit({ inputs: step.inputs, idempotencyKey: "key" }));
    return step.do === "poll" ? pollOutcome(await provider.poll(submission!)) : { told: await provider.cancel(submission!) };
  };
  const outcomes: unknown[] = [];
  for (const step of steps) outcomes.push(await doStep(step).catch(errorOutcome));
  return outcomes;
};

/**
 * Replays a recording with the current code.
 * @throws if a request is missing or differs from the recorded one
 */
export const replay = async ({ settings, steps, exchanges }: Recording): Promise<unknown[]> => {
  let used = 0;
  const egress = replayer(exchanges);
  const outcomes = await perform(settings, steps, { ...egress, stream: (request) => (used++, egress.stream(request)) });
  expect(used).toBe(exchanges.length);
  return outcomes;
};

/** Names of recordings, as `<dialect>/<name>.json`. */
export const recordings = (): string[] =>
  readdirSync(RECORDINGS, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort();
export const readRecording = (name: string): Recording => JSON.parse(readFileSync(join(RECORDINGS, name), "utf8")) as Recording;

/** Saves a recording without the peer's address and name. Only with RECORD=1. */
export const keepRecording = (name: string, address: string, recording: Recording): void => {
  if (process.env.RECORD !== "1") return;
  const path = join(RECORDINGS, `${name}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(recording, null, 2).replaceAll(address, PEER)}\n`);
};
