import { LIMITS } from "@nodeloom/kernel";
import { answerBytes, answerId } from "../answers";
import type { DialectContext, FilesProvider } from "../dialect";
import { createTransport } from "../transport";
import { speechCall } from "./mapping";
import type { SpeechSettings } from "./settings";

export { speechSchema } from "./settings";

const TIMEOUT_MS = 300_000;

/** A voice behind an ElevenLabs-style API. The sound is passed on as it arrives. */
export const speech = (settings: SpeechSettings, context: DialectContext): FilesProvider => {
  const transport = createTransport(context, settings.auth);
  return {
    type: "files",
    run: async ({ inputs, signal, reserve }) => {
      const call = { ...speechCall(settings, inputs), timeoutMs: TIMEOUT_MS, maxBytes: LIMITS.mediaBytes, signal };
      const { headers, body } = await transport.open(call);
      // What was heard is kept until it is stored: it can't be asked for twice.
      await reserve(answerBytes(headers, LIMITS.mediaBytes));
      return { files: [{ bytes: body }], requestId: answerId(headers) };
    },
  };
};
