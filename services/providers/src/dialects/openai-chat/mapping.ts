import { member } from "@nodeloom/kernel";
import { shortId } from "../../answers";
import { earlierTurns, laterTurns, otherInputs, usageOf, type ChatCall, type ChatSettings } from "../../chat/chat-call";
import { promptFiles, type PromptFile } from "../../chat/files";
import { noText } from "../../chat/provider";
import { objectSchema, repairTurns, systemPrompt, unwrapped } from "../../chat/structured";
import { toolCallsIn } from "../../tools";
import { ProviderError, type TextAnswer } from "../../dialect";
import { pointer } from "../../pointer";
import type { JsonCall } from "../../transport";

/** Builds requests of chat completions and reads their responses. */

/** The API's names for audio formats, if they differ from the subtype. */
const SOUND_FORMATS: Readonly<Record<string, string>> = { mpeg: "mp3", "x-wav": "wav", wave: "wav", "vnd.wave": "wav", "x-m4a": "m4a" };

const soundFormat = (contentType: string): string => {
  const [, subtype = ""] = contentType.split("/");
  return member(SOUND_FORMATS, subtype) ?? subtype;
};

const part = ({ kind, url, inline }: PromptFile): object => {
  switch (kind) {
    case "image":
      return { type: "image_url", image_url: { url } };
    case "video":
      return { type: "video_url", video_url: { url } };
    case "document":
      return { type: "file", file: { filename: "document.pdf", file_data: url } };
    case "audio":
      if (!inline) throw new ProviderError("refused", "sound must be sent inside the request");
      return { type: "input_audio", input_audio: { data: inline.base64, format: soundFormat(inline.contentType) } };
  }
};

export const chatCall = (settings: ChatSettings, question: ChatCall): JsonCall => {
  const { baseUrl, model, tokenLimit = "max_tokens", structuredOutput, parameters = {} } = settings;
  const { inputs, schema } = question;
  const { names, files } = promptFiles(settings, inputs);
  const system = systemPrompt(question, !structuredOutput);
  const content = files.length > 0 ? [{ type: "text", text: inputs.prompt }, ...files.map(part)] : inputs.prompt;
  return {
    method: "POST",
    url: `${baseUrl}/chat/completions`,
    body: {
      ...otherInputs(question, names),
      ...parameters,
      model,
      messages: [
        ...(system === undefined ? [] : [{ role: "system", content: system }]),
        ...earlierTurns(question),
        { role: "user", content },
        ...laterTurns(question),
        ...repairTurns(question).map(({ role, text }) => ({ role, content: text })),
      ],
      ...(inputs.maxTokens === undefined ? {} : { [tokenLimit]: inputs.maxTokens }),
      ...(schema && structuredOutput
        ? { response_format: { type: "json_schema", json_schema: { name: "answer", schema: objectSchema(schema) } } }
        : {}),
    },
  };
};

/** The reason why a completion has no text, if it states one. */
const refusalOf = (answer: unknown, reason: (text: string) => string): ProviderError | undefined => {
  const refusal = pointer(answer, "/choices/0/message/refusal");
  if (typeof refusal === "string" && refusal !== "") return new ProviderError("refused", `the model refuses this: ${reason(refusal)}`);
  if (pointer(answer, "/choices/0/finish_reason") === "content_filter")
    return new ProviderError("refused", "the provider's content policy does not allow this");
  return undefined;
};

/** Text, tool calls and usage of a completion. @throws ProviderError if it has neither text nor calls */
export const completionOf = (
  { structuredOutput }: ChatSettings,
  question: ChatCall,
  answer: unknown,
  reason: (text: string) => string,
): TextAnswer => {
  const id = pointer(answer, "/id");
  const calls = toolCallsIn(pointer(answer, "/choices/0/message/tool_calls"), (index) => `call_${String(id)}_${index}`);
  const content = pointer(answer, "/choices/0/message/content");
  const text = calls.length > 0 ? (content ?? "") : content;
  const refusal = (typeof text === "string" && text !== "") || calls.length > 0 ? undefined : refusalOf(answer, reason);
  if (refusal) throw refusal;
  const isCut = pointer(answer, "/choices/0/finish_reason") === "length";
  if (typeof text !== "string") throw noText(isCut);
  const { schema } = question;
  return {
    text: schema && structuredOutput ? unwrapped(schema, text) : text,
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(isCut ? { isCut } : {}),
    usage: usageOf(
      question,
      calls.length > 0 ? text + JSON.stringify(calls) : text,
      pointer(answer, "/usage/prompt_tokens"),
      pointer(answer, "/usage/completion_tokens"),
    ),
    requestId: typeof id === "string" ? shortId(id) : null,
  };
};
