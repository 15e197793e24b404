import type { ProviderSettings } from "@nodeloom/platform";
import { base64Bytes } from "../../../run/base64";
import { answerBytes, answerId } from "../answers";
import { ProviderError, type DialectContext, type FilesProvider, type ProviderFile } from "../dialect";
import { pointerAll } from "../pointer";
import { createTransport, DIRECT_TIMEOUT_MS } from "../transport";

/** Ten of the largest pictures, in base64. */
const MAX_ANSWER_BYTES = 64 * 1_024 * 1_024;
/** While an answer is parsed it is in memory as its text and as the texts in it. */
const COPIES = 2;
const DATA_URL = /^data:[^,]*;base64,/i;

const inline = (base64: string): ProviderFile => {
  // Line breaks are rare, and a copy is large.
  const text = /\s/.test(base64) ? base64.replace(/\s+/g, "") : base64;
  return { read: () => base64Bytes(text) };
};

const fileOf = (picture: unknown): ProviderFile[] => {
  const { b64_json: base64, url } = (picture ?? {}) as { b64_json?: unknown; url?: unknown };
  if (typeof base64 === "string" && base64 !== "") return [inline(base64)];
  if (typeof url !== "string" || url === "") return [];
  const header = DATA_URL.exec(url)?.[0];
  return [header === undefined ? { url } : inline(url.slice(header.length))];
};

/** OpenAI-compatible image generation: one request, answered with the pictures. */
export const openAiImages = (settings: Extract<ProviderSettings, { dialect: "openai-images" }>, context: DialectContext): FilesProvider => {
  const { baseUrl, model, parameters = {} } = settings;
  const transport = createTransport(context, settings);
  return {
    type: "files",
    run: async ({ inputs: { count, ...rest }, signal, reserve }) => {
      const { headers, body } = await transport.open({
        method: "POST",
        url: `${baseUrl}/images/generations`,
        body: { ...rest, ...(count === undefined ? {} : { n: count }), ...parameters, model },
        timeoutMs: DIRECT_TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        signal,
      });
      await reserve(answerBytes(headers, MAX_ANSWER_BYTES) * COPIES);
      const files = pointerAll(await transport.parse(body), "/data/*").flatMap(fileOf);
      if (files.length === 0) throw new ProviderError("incomplete", "the provider's answer has no pictures");
      return { files, requestId: answerId(headers) };
    },
  };
};
