import { isRecord } from "@nodeloom/kernel";
import { earlierTurns, otherInputs, type Asked, type ChatSettings, type Turn } from "../../chat/asked";
import { promptFiles, type PromptFile } from "../../chat/files";
import { repairTurns, systemPrompt } from "../../chat/structured";
import type { JsonCall } from "../../transport";

/** The request of Google's generateContent. */

/** Of files that are named by their address alone. */
const USUAL_TYPES: Readonly<Record<PromptFile["kind"], string>> = {
  image: "image/jpeg",
  document: "application/pdf",
  audio: "audio/mpeg",
  video: "video/mp4",
};

const part = ({ kind, url, inline }: PromptFile): object =>
  inline
    ? { inlineData: { mimeType: inline.contentType, data: inline.base64 } }
    : { fileData: { fileUri: url, mimeType: USUAL_TYPES[kind] } };

const turn = (role: Turn["role"], text: string): object => ({ role: role === "assistant" ? "model" : role, parts: [{ text }] });

/** A request of `generateContent`. Inputs of other names are settings of the generation. */
export const generateCall = (settings: ChatSettings, asked: Asked): JsonCall => {
  const { baseUrl, model, structuredOutput, parameters = {} } = settings;
  const { prompt, maxTokens } = asked.inputs;
  const { names, files } = promptFiles(settings, asked.inputs);
  const system = systemPrompt(asked, !structuredOutput);
  const { generationConfig, ...others } = parameters;
  return {
    method: "POST",
    url: `${baseUrl}/models/${encodeURIComponent(model)}:generateContent`,
    body: {
      ...others,
      ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
      contents: [
        ...earlierTurns(asked).map(({ role, content }) => turn(role, content)),
        { role: "user", parts: [...files.map(part), { text: prompt }] },
        ...repairTurns(asked).map(({ role, text }) => turn(role, text)),
      ],
      generationConfig: {
        ...otherInputs(asked, names),
        ...(isRecord(generationConfig) ? generationConfig : {}),
        ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
        ...(asked.schema && structuredOutput ? { responseMimeType: "application/json", responseJsonSchema: asked.schema } : {}),
      },
    },
  };
};
