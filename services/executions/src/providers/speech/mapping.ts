import { ProviderError } from "../dialect";
import type { JsonCall } from "../transport";
import type { SpeechSettings } from "./settings";

/** A voice is part of the address: nothing that could lead elsewhere. */
const VOICE = /^[A-Za-z0-9_-]{1,128}$/;

/** @throws ProviderError when the voice can't be one. */
export const speechCall = (
  { baseUrl, model, voice: usual, outputFormat, parameters }: SpeechSettings,
  inputs: Record<string, unknown>,
): JsonCall => {
  const { prompt, voice = usual, ...rest } = inputs;
  if (typeof voice !== "string" || !VOICE.test(voice)) throw new ProviderError("failed", "there is no such voice");
  const query = outputFormat === undefined ? "" : `?output_format=${encodeURIComponent(outputFormat)}`;
  return {
    method: "POST",
    url: `${baseUrl}/v1/text-to-speech/${voice}${query}`,
    headers: { accept: "audio/*" },
    body: { ...rest, ...parameters, text: prompt, model_id: model },
  };
};
