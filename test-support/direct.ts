/** Settings of providers with one request per call, as in the registry. */

/** OpenAI-compatible pictures. `parameters` are members that inputs don't change. */
export const pictures = (baseUrl: string, model: string, { parameters = {}, ...part }: { parameters?: object } = {}) => ({
  kind: "direct-http",
  baseUrl,
  auth: { scheme: "Bearer", secretEnv: "KEY" },
  request: {
    path: "/images/generations",
    body: { prompt: { $input: "prompt" }, n: { $input: "count" }, sandbox: { $input: "sandbox" }, ...parameters, model },
  },
  outputs: { images: ["/data/*/b64_json", "/data/*/url"] },
  ...part,
});

/** Speech in ElevenLabs' format. */
export const voice = (baseUrl: string, model: string, part: object = {}) => ({
  kind: "direct-http",
  baseUrl,
  auth: { header: "xi-api-key", secretEnv: "KEY" },
  headers: { accept: "audio/*" },
  defaults: { voice: "rachel" },
  request: {
    path: "/v1/text-to-speech/${voice}",
    body: { text: { $input: "prompt" }, sandbox: { $input: "sandbox" }, model_id: model },
  },
  answer: "bytes",
  outputs: { audios: "" },
  ...part,
});
