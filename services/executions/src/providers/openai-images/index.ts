import { answerBytes, answerId, jsonOf } from "../answers";
import type { DialectContext, FilesProvider } from "../dialect";
import { createTransport } from "../transport";
import { imagesCall, picturesOf } from "./mapping";
import type { OpenAiImagesSettings } from "./settings";

export { openAiImagesSchema } from "./settings";

const TIMEOUT_MS = 300_000;
/** Ten of the largest pictures, in base64. */
const MAX_ANSWER_BYTES = 64 * 1_024 * 1_024;
/** While an answer is parsed it is in memory as its text and as the texts in it. */
const COPIES = 2;

/** An image model behind an OpenAI-compatible API. */
export const openAiImages = (settings: OpenAiImagesSettings, context: DialectContext): FilesProvider => {
  const transport = createTransport(context, settings.auth);
  return {
    type: "files",
    run: async ({ inputs, signal, reserve }) => {
      const call = { ...imagesCall(settings, inputs), timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, signal };
      const { headers, body } = await transport.open(call);
      await reserve(answerBytes(headers, MAX_ANSWER_BYTES) * COPIES);
      return { files: picturesOf(await jsonOf(body)), requestId: answerId(headers) };
    },
  };
};
