import { providerSchema } from "../src/entries/settings";
import { createEgressClient, type EgressClient } from "@nodeloom/platform";
import { createProvider, ProviderError, type FilesProvider, type ProviderFile } from "../src";
import type { SentFile } from "../src/multipart";
import { startRecordingServer, type RecordedRequest, type RecordingServer, type Reply } from "../../../test-support/recording-server";

/** Tests entries for services that answer in one request, as in their manuals, against a server that checks requests. */

const SECRET = "secret-of-ours-1234";
const PNG = Buffer.from("\x89PNG\r\n\x1a\npicture", "latin1");
const MP3 = Buffer.from("ID3sound");
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

const file = (name: string, contentType: string, text: string): SentFile => ({
  name,
  contentType,
  length: Buffer.byteLength(text),
  read: async function* () {
    // Yields two pieces, as storage does.
    yield Buffer.from(text.slice(0, 2));
    yield await Promise.resolve(Buffer.from(text.slice(2)));
  },
});

const bearer = { scheme: "Bearer", secretEnv: "KEY" };
const run = async (settings: Record<string, unknown>, inputs: Record<string, unknown>) => {
  const whole = { kind: "direct-http", baseUrl: server.url, auth: bearer, ...settings };
  providerSchema.parse(whole);
  const provider = createProvider(JSON.stringify(whole), { egress, secret: () => SECRET }) as FilesProvider;
  const result = await provider.run({ inputs, idempotencyKey: "k", reserve: () => Promise.resolve() });
  return { ...result, files: await Promise.all(result.files.map(bytesOf)) };
};
const bytesOf = async (providerFile: ProviderFile): Promise<Buffer | string> => {
  if ("url" in providerFile) return providerFile.url;
  const chunks: Uint8Array[] = [];
  for await (const chunk of "read" in providerFile ? providerFile.read() : providerFile.bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
};

interface Case {
  settings: Record<string, unknown>;
  inputs: Record<string, unknown>;
  call: string;
  body?: unknown;
  form?: [string, unknown][];
  headers?: Record<string, string>;
  reply: Reply;
  output: object;
}

const CASES: Record<string, Case> = {
  "OpenAI's images": {
    settings: {
      request: {
        path: "/v1/images/generations",
        body: { model: "gpt-image-2", prompt: { $input: "prompt" }, n: { $input: "count" }, size: { $input: "size" } },
      },
      outputs: { images: ["/data/*/b64_json", "/data/*/url"] },
    },
    inputs: { prompt: "a loom", count: 2, size: "1024x1024" },
    call: "POST /v1/images/generations",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: { model: "gpt-image-2", prompt: "a loom", n: 2, size: "1024x1024" },
    reply: {
      json: { data: [{ b64_json: PNG.toString("base64") }, { b64_json: MP3.toString("base64") }] },
      headers: { "x-request-id": "r1" },
    },
    output: { files: [PNG, MP3], text: null, requestId: "r1" },
  },
  "OpenAI's edits of several pictures": {
    settings: {
      request: {
        path: "/v1/images/edits",
        form: {
          model: "gpt-image-2",
          prompt: { $input: "prompt" },
          "image[]": { $input: "images" },
          mask: { $input: "mask" },
          n: { $input: "count" },
        },
      },
      outputs: { images: "/data/*/b64_json" },
    },
    inputs: { prompt: "as one", images: [file("a.png", "image/png", "first"), file("b.webp", "image/webp", "second")], count: 1 },
    call: "POST /v1/images/edits",
    form: [
      ["model", "gpt-image-2"],
      ["prompt", "as one"],
      ["image[]", { file: "a.png", type: "image/png", text: "first" }],
      ["image[]", { file: "b.webp", type: "image/webp", text: "second" }],
      ["n", "1"],
    ],
    reply: { json: { data: [{ b64_json: PNG.toString("base64") }] } },
    output: { files: [PNG] },
  },
  "OpenAI's speech": {
    settings: {
      defaults: { voice: "alloy" },
      request: { path: "/v1/audio/speech", body: { model: "gpt-4o-mini-tts", input: { $input: "prompt" }, voice: { $input: "voice" } } },
      answer: "bytes",
      outputs: { audios: "" },
    },
    inputs: { prompt: "Hello" },
    call: "POST /v1/audio/speech",
    headers: { accept: "*/*" },
    body: { model: "gpt-4o-mini-tts", input: "Hello", voice: "alloy" },
    reply: { bytes: MP3, headers: { "content-type": "audio/mpeg" } },
    output: { files: [MP3], text: null },
  },
  "OpenAI's transcription": {
    settings: {
      files: { audio: { send: ["form"] } },
      request: {
        path: "/v1/audio/transcriptions",
        form: { model: "gpt-transcribe", file: { $input: "audio" }, language: { $input: "language" }, response_format: "verbose_json" },
      },
      outputs: { text: "/text", json: "/segments" },
    },
    inputs: { audio: file("a.mp3", "audio/mpeg", "sound") },
    call: "POST /v1/audio/transcriptions",
    form: [
      ["model", "gpt-transcribe"],
      ["file", { file: "a.mp3", type: "audio/mpeg", text: "sound" }],
      ["response_format", "verbose_json"],
    ],
    reply: { json: { text: "Hello there.", segments: [{ start: 0, end: 1.5, text: "Hello there." }] } },
    output: { files: [], text: "Hello there.", json: { value: [{ start: 0, end: 1.5, text: "Hello there." }] } },
  },
  "ElevenLabs' music": {
    settings: {
      auth: { header: "xi-api-key", secretEnv: "KEY" },
      request: {
        path: "/v1/music",
        query: { output_format: "mp3_44100_128" },
        body: { prompt: { $input: "prompt" }, music_length_ms: { $input: "seconds", times: 1_000 }, model_id: "music_v1" },
      },
      answer: "bytes",
      outputs: { audios: "" },
    },
    inputs: { prompt: "a waltz", seconds: 30 },
    call: "POST /v1/music?output_format=mp3_44100_128",
    headers: { "xi-api-key": SECRET },
    body: { prompt: "a waltz", music_length_ms: 30_000, model_id: "music_v1" },
    reply: { bytes: MP3, headers: { "content-type": "audio/mpeg", "request-id": "song" } },
    output: { files: [MP3], requestId: "song" },
  },
  "ElevenLabs' sound effects": {
    settings: {
      auth: { header: "xi-api-key", secretEnv: "KEY" },
      request: {
        path: "/v1/sound-generation",
        body: { text: { $input: "prompt" }, duration_seconds: { $input: "seconds" }, loop: { $input: "loop" } },
      },
      answer: "bytes",
      outputs: { audios: "" },
    },
    inputs: { prompt: "rain", seconds: 2.5, loop: false },
    call: "POST /v1/sound-generation",
    body: { text: "rain", duration_seconds: 2.5, loop: false },
    reply: { bytes: MP3, headers: { "content-type": "audio/mpeg" } },
    output: { files: [MP3] },
  },
  "ElevenLabs' transcription": {
    settings: {
      auth: { header: "xi-api-key", secretEnv: "KEY" },
      request: { path: "/v1/speech-to-text", form: { model_id: "scribe_v2", file: { $input: "audio" }, diarize: { $input: "speakers" } } },
      outputs: { text: "/text", json: "/words" },
    },
    inputs: { audio: file("a.wav", "audio/wav", "sound"), speakers: true },
    call: "POST /v1/speech-to-text",
    form: [
      ["model_id", "scribe_v2"],
      ["file", { file: "a.wav", type: "audio/wav", text: "sound" }],
      ["diarize", "true"],
    ],
    reply: { json: { text: "", words: [] } },
    output: { files: [], text: "", json: { value: [] } },
  },
  "Stability's images": {
    settings: {
      headers: { accept: "application/json" },
      error: { when: "/finish_reason", not: ["SUCCESS"], message: "/finish_reason" },
      request: {
        path: "/v2beta/stable-image/generate/core",
        form: { prompt: { $input: "prompt" }, aspect_ratio: { $input: "ratio" }, output_format: "png", image: { $input: "image" } },
      },
      outputs: { images: "/image" },
    },
    inputs: { prompt: "a loom", ratio: "16:9" },
    call: "POST /v2beta/stable-image/generate/core",
    headers: { accept: "application/json" },
    form: [
      ["prompt", "a loom"],
      ["aspect_ratio", "16:9"],
      ["output_format", "png"],
    ],
    reply: { json: { image: PNG.toString("base64"), finish_reason: "SUCCESS", seed: 1 } },
    output: { files: [PNG] },
  },
  "Ideogram's images": {
    settings: {
      auth: { header: "Api-Key", secretEnv: "KEY" },
      request: {
        path: "/v1/ideogram-v3/generate",
        form: {
          prompt: { $input: "prompt" },
          rendering_speed: { $input: "speed", map: { fast: "TURBO", good: "QUALITY" } },
          num_images: { $input: "count" },
        },
      },
      outputs: { images: "/data/*/url" },
    },
    inputs: { prompt: "a poster", speed: "good", count: 1 },
    call: "POST /v1/ideogram-v3/generate",
    headers: { "api-key": SECRET },
    form: [
      ["prompt", "a poster"],
      ["rendering_speed", "QUALITY"],
      ["num_images", "1"],
    ],
    reply: { json: { data: [{ url: "https://ideogram.ai/api/images/ephemeral/x.png" }] } },
    output: { files: ["https://ideogram.ai/api/images/ephemeral/x.png"] },
  },
  "Gemini's images": {
    settings: {
      auth: { header: "x-goog-api-key", secretEnv: "KEY" },
      files: { images: { send: ["base64"] } },
      error: { when: "/promptFeedback/blockReason", message: "/promptFeedback/blockReason" },
      request: {
        path: "/v1beta/models/gemini-3-pro-image:generateContent",
        body: {
          contents: [
            {
              parts: [
                { text: { $input: "prompt" } },
                { $each: "images", item: { inline_data: { mime_type: { $input: "images.type" }, data: { $input: "images" } } } },
              ],
            },
          ],
          generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: { $input: "ratio" } } },
        },
      },
      requestId: "/responseId",
      outputs: { images: "/candidates/0/content/parts/*/inlineData/data" },
    },
    inputs: { prompt: "as one", images: ["AAAA", "BBBB"], "images.type": ["image/png", "image/jpeg"] },
    call: "POST /v1beta/models/gemini-3-pro-image:generateContent",
    headers: { "x-goog-api-key": SECRET },
    body: {
      contents: [
        {
          parts: [
            { text: "as one" },
            { inline_data: { mime_type: "image/png", data: "AAAA" } },
            { inline_data: { mime_type: "image/jpeg", data: "BBBB" } },
          ],
        },
      ],
      generationConfig: { responseModalities: ["IMAGE"] },
    },
    reply: {
      json: {
        responseId: "g1",
        candidates: [{ content: { parts: [{ text: "Here." }, { inlineData: { mimeType: "image/png", data: PNG.toString("base64") } }] } }],
      },
    },
    output: { files: [PNG], requestId: "g1" },
  },
};

it.each(Object.entries(CASES))("requests %s as in its manual, and finds the result", async (_name, one) => {
  server.answer = () => one.reply;
  expect(await run(one.settings, one.inputs)).toMatchObject(one.output);
  const [request] = server.requests as [RecordedRequest];
  expect(request.call).toBe(one.call);
  expect(request.headers).toMatchObject(one.headers ?? {});
  if (one.body) expect(request.json()).toEqual(one.body);
  if (!one.form) return;
  expect(Number(request.headers["content-length"])).toBe(request.bytes.length);
  expect(await request.form()).toEqual(one.form);
});

describe("a response with status 200", () => {
  const { settings, inputs } = CASES["Stability's images"]!;

  it("with an error inside is a rejection with the provider's message, without the secret", async () => {
    server.answer = () => ({ json: { finish_reason: `CONTENT_FILTERED ${SECRET}` } });
    const failure = await run(settings, inputs).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure).toMatchObject({ kind: "refused", status: 200, message: "CONTENT_FILTERED [secret]" });
    expect(JSON.stringify(failure)).not.toContain(SECRET);
  });

  it("that is JSON in place of a file has no file, or reports its error", async () => {
    const speech = CASES["OpenAI's speech"]!;
    server.answer = () => ({ json: { voices: [] } });
    expect(await run(speech.settings, speech.inputs)).toMatchObject({ files: [] });
    server.answer = () => ({ json: { detail: "quota" } });
    const refusal = { kind: "refused", message: "the provider answered with an error: quota" };
    await expect(run(speech.settings, speech.inputs)).rejects.toMatchObject(refusal);
    const failing = run({ ...speech.settings, error: { when: "/detail", message: "/detail" } }, speech.inputs);
    await expect(failing).rejects.toMatchObject({ kind: "refused", message: "quota" });
  });

  it("that is text is returned as this text", async () => {
    server.answer = () => ({ bytes: Buffer.from("Grüße"), headers: { "content-type": "text/plain" } });
    const { settings: transcription, inputs: sound } = CASES["OpenAI's transcription"]!;
    expect(await run({ ...transcription, answer: "text", outputs: { text: "" } }, sound)).toMatchObject({ text: "Grüße", files: [] });
  });
});

describe("an input in a path", () => {
  const settings = { request: { path: "/v1/voices/${voice}/say", body: {} }, answer: "bytes", outputs: { audios: "" } };

  it("stays in its segment, whatever it contains", async () => {
    server.answer = () => ({ bytes: MP3 });
    await run(settings, { voice: "../../models?x=1#y" });
    expect(server.requests[0]!.call).toBe("POST /v1/voices/..%2F..%2Fmodels%3Fx%3D1%23y/say");
  });

  it.each([[".."], ["."], [""], [undefined]])("that is %p is rejected before anything is sent", async (voice) => {
    await expect(run(settings, { voice })).rejects.toMatchObject({
      kind: "failed",
      message: expect.stringMatching(/^input voice: /) as string,
    });
    expect(server.requests).toEqual([]);
  });
});

describe("a file at an address", () => {
  const settings = (part: object): Record<string, unknown> => ({
    request: { path: "/make", body: {} },
    outputs: { videos: "/url" },
    ...part,
  });

  it("of the provider itself is fetched with its secret if the entry says so", async () => {
    server.answer = ({ call }) => (call === "GET /content/1" ? { bytes: MP3 } : { json: { url: `${server.url}/content/1` } });
    expect((await run(settings({ downloadWithKey: true }), {})).files).toEqual([MP3]);
    expect(server.requests[1]!.headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  it("of another host never is", async () => {
    const elsewhere = "https://files.nodeloom.dev/1.mp4";
    server.answer = () => ({ json: { url: elsewhere } });
    expect((await run(settings({ downloadWithKey: true, pollHosts: ["*.example.com"] }), {})).files).toEqual([elsewhere]);
    expect(server.requests).toHaveLength(1);
  });
});
