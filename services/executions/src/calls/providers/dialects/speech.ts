import { LIMITS } from "@nodeloom/kernel";
import { VOICE, type ProviderSettings } from "@nodeloom/platform";
import { answerBytes, answerId } from "../answers";
import { ProviderError, type DialectContext, type FilesProvider } from "../dialect";
import { createTransport, DIRECT_TIMEOUT_MS } from "../transport";

/** Speech as ElevenLabs offers it: one request, answered with the sound itself, which is passed on as it arrives. */
export const speech = (settings: Extract<ProviderSettings, { dialect: "speech" }>, context: DialectContext): FilesProvider => {
  const { baseUrl, model, voice: usual, outputFormat, parameters = {} } = settings;
  const transport = createTransport(context, settings);
  const query = outputFormat === undefined ? "" : `?output_format=${encodeURIComponent(outputFormat)}`;
  return {
    type: "files",
    run: async ({ inputs: { prompt, voice = usual, ...rest }, signal, reserve }) => {
      if (typeof voice !== "string" || !VOICE.test(voice)) throw new ProviderError("failed", "there is no such voice");
      const { headers, body } = await transport.open({
        method: "POST",
        url: `${baseUrl}/v1/text-to-speech/${voice}${query}`,
        headers: { accept: "audio/*" },
        body: { ...rest, ...parameters, text: prompt, model_id: model },
        timeoutMs: DIRECT_TIMEOUT_MS,
        maxBytes: LIMITS.mediaBytes,
        signal,
      });
      // What was heard is kept until it is stored: it can't be asked for twice.
      await reserve(answerBytes(headers, LIMITS.mediaBytes));
      return { files: [{ bytes: body }], requestId: answerId(headers) };
    },
  };
};
