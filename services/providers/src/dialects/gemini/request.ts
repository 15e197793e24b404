import { isRecord } from "@nodeloom/kernel";
import { earlierTurns, laterTurns, otherInputs, type ChatCall, type ChatSettings, type Turn } from "../../chat/chat-call";
import { promptFiles, type PromptFile } from "../../chat/files";
import { repairTurns, systemPrompt } from "../../chat/structured";
import { argumentsOf, TOOL_INPUTS, toolChoiceOf, toolsOf, type ToolCall } from "../../tools";
import { pointer } from "../../pointer";
import type { JsonCall } from "../../transport";

/** Builds requests of Google's generateContent. */

/** Content types for files that are sent by URL. */
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

const turn = (role: "user" | "assistant", text: string): object => ({ role: role === "assistant" ? "model" : role, parts: [{ text }] });

/**
 * Newer models reject tool calls without a signature. This value replaces an unknown signature
 * (ai.google.dev/gemini-api/docs/thought-signatures).
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

const callPart = (call: ToolCall): object => ({
  functionCall: { name: call.function.name, args: argumentsOf(call) },
  thoughtSignature: pointer(call.extra_content, "/google/thought_signature") ?? NO_SIGNATURE,
});

/** Converts turns to the API's form. Results are named after their tools, and consecutive results share one turn. */
const contentsOf = (turns: readonly Turn[]): object[] => {
  const names = new Map(turns.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => [call.id, call.function.name] as const)));
  const contents: object[] = [];
  let results: object[] | undefined;
  for (const { role, content, tool_calls: calls = [], tool_call_id: id = "" } of turns) {
    if (role === "tool") {
      if (!results) contents.push({ role: "user", parts: (results = []) });
      results.push({ functionResponse: { name: names.get(id) ?? id, response: { result: content } } });
      continue;
    }
    results = undefined;
    if (calls.length === 0) contents.push(turn(role, content));
    else contents.push({ role: "model", parts: [...(content === "" ? [] : [{ text: content }]), ...calls.map(callPart)] });
  }
  return contents;
};

const MODES = { auto: "AUTO", none: "NONE", required: "ANY" } as const;

const toolMembers = (question: ChatCall): Record<string, unknown> => {
  const tools = toolsOf(question);
  if (tools.length === 0) return {};
  const declared = tools.map(({ parameters, ...tool }) => ({ ...tool, ...(parameters ? { parametersJsonSchema: parameters } : {}) }));
  const choice = toolChoiceOf(question);
  const config =
    typeof choice === "string" ? { mode: MODES[choice] } : choice && { mode: MODES.required, allowedFunctionNames: [choice.name] };
  return { tools: [{ functionDeclarations: declared }], ...(config ? { toolConfig: { functionCallingConfig: config } } : {}) };
};

/** Builds a `generateContent` request. Inputs with unknown names are sent as generation settings. */
export const generateCall = (settings: ChatSettings, question: ChatCall): JsonCall => {
  const { baseUrl, model, structuredOutput, parameters = {} } = settings;
  const { prompt, maxTokens } = question.inputs;
  const { names, files } = promptFiles(settings, question.inputs);
  const system = systemPrompt(question, !structuredOutput);
  const { generationConfig, ...others } = parameters;
  return {
    method: "POST",
    url: `${baseUrl}/models/${encodeURIComponent(model)}:generateContent`,
    body: {
      ...others,
      ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
      contents: [
        ...contentsOf(earlierTurns(question)),
        { role: "user", parts: [...files.map(part), { text: prompt }] },
        ...contentsOf(laterTurns(question)),
        ...repairTurns(question).map(({ role, text }) => turn(role, text)),
      ],
      ...toolMembers(question),
      generationConfig: {
        ...otherInputs(question, [...names, ...TOOL_INPUTS]),
        ...(isRecord(generationConfig) ? generationConfig : {}),
        ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
        ...(question.schema && structuredOutput ? { responseMimeType: "application/json", responseJsonSchema: question.schema } : {}),
      },
    },
  };
};
