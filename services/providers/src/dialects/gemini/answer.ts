import { isRecord } from "@nodeloom/kernel";
import { shortId } from "../../answers";
import { usageOf, type ChatCall } from "../../chat/chat-call";
import { noText } from "../../chat/provider";
import { toolCallsIn, type ToolCall } from "../../tools";
import { ProviderError, type TextAnswer } from "../../dialect";
import { pointer, pointerAll } from "../../pointer";

/** Reads a response of Google's generateContent: text or JSON, token counts, and the finish reason. */

/** Finish reasons of a complete text. */
const ENDED = new Set([undefined, "STOP", "FINISH_REASON_UNSPECIFIED", "MAX_TOKENS"]);
/** Finish reasons that mean a violation of the provider's content rules. */
const POLICY = /SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII|RECITATION|JAILBREAK|MODEL_ARMOR/;

/** Text of a response, or of a piece of one, without the model's thoughts; undefined if it has no text. */
export const textIn = (answer: unknown): string | undefined => {
  const texts = pointerAll(answer, "/candidates/0/content/parts/*").flatMap((part) =>
    isRecord(part) && typeof part.text === "string" && part.thought !== true ? [part.text] : [],
  );
  return texts.length > 0 ? texts.join("") : undefined;
};

/** Tool calls in a response. The API doesn't assign ids to them. */
const callsIn = (answer: unknown): ToolCall[] => {
  const parts = pointerAll(answer, "/candidates/0/content/parts/*").filter((part) => pointer(part, "/functionCall") !== undefined);
  const calls = parts.map((part) => {
    const signature = pointer(part, "/thoughtSignature");
    return {
      id: pointer(part, "/functionCall/id"),
      function: { name: pointer(part, "/functionCall/name"), arguments: pointer(part, "/functionCall/args") },
      ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
    };
  });
  return toolCallsIn(calls, (index) => `call_${String(pointer(answer, "/responseId"))}_${index}`);
};

/** The reason why a response has no text, or not the requested text. */
const refusalOf = (answer: unknown, showText: (text: string) => string): ProviderError | undefined => {
  const blocked = pointer(answer, "/promptFeedback/blockReason");
  const finishReason = pointer(answer, "/candidates/0/finishReason");
  const why = typeof blocked === "string" ? blocked : finishReason;
  if (typeof blocked !== "string" && ENDED.has(finishReason as string | undefined)) return undefined;
  const reason = showText(String(why));
  if (POLICY.test(reason) || typeof blocked === "string")
    return new ProviderError("refused", `the provider's content policy does not allow this (${reason})`);
  return new ProviderError("failed", `the model ended without an answer (${reason})`);
};

const sum = (...counts: unknown[]): number | undefined => {
  const knownCounts = counts.filter((count) => typeof count === "number");
  return knownCounts.length > 0 ? knownCounts.reduce((total, count) => total + count, 0) : undefined;
};

/** Text, tool calls and usage of a response. Reasoning is charged like text. @throws ProviderError if it has neither text nor calls */
export const completionOf = (question: ChatCall, answer: unknown, reason: (text: string) => string): TextAnswer => {
  const refusal = refusalOf(answer, reason);
  if (refusal) throw refusal;
  const calls = callsIn(answer);
  const text = textIn(answer) ?? (calls.length > 0 ? "" : undefined);
  const isCut = pointer(answer, "/candidates/0/finishReason") === "MAX_TOKENS";
  if (text === undefined) throw noText(isCut);
  const id = pointer(answer, "/responseId");
  const count = (name: string): unknown => pointer(answer, `/usageMetadata/${name}`);
  return {
    text,
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(isCut ? { isCut } : {}),
    usage: usageOf(
      question,
      calls.length > 0 ? text + JSON.stringify(calls) : text,
      sum(count("promptTokenCount"), count("toolUsePromptTokenCount")),
      sum(count("candidatesTokenCount"), count("thoughtsTokenCount")),
    ),
    requestId: typeof id === "string" ? shortId(id) : null,
  };
};
