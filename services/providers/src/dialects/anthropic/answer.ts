import { shortId } from "../../answers";
import { usageOf, type ChatCall, type ChatSettings } from "../../chat/chat-call";
import { noText } from "../../chat/provider";
import { unwrapped } from "../../chat/structured";
import { toolCallsIn, type ToolCall } from "../../tools";
import { ProviderError, type TextAnswer } from "../../dialect";
import { pointer, pointerAll, pointerTexts } from "../../pointer";
import { answerForm } from "./answer-form";

/** Reads a response of Anthropic's Messages API: text or JSON, token counts, and the stop reason. */

/** Input tokens are counted separately by cache state. */
const INPUT_TOKENS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
/** Stop reasons that end a response too early. */
const CUT = new Set(["max_tokens", "model_context_window_exceeded"]);

/** Calls of the caller's tools. */
const callsOf = (answer: unknown): ToolCall[] => {
  const used = pointerAll(answer, "/content/*").filter((block) => pointer(block, "/type") === "tool_use");
  const calls = used.map((block) => {
    const input = pointer(block, "/input");
    return { id: pointer(block, "/id"), function: { name: pointer(block, "/name"), arguments: input } };
  });
  return toolCallsIn(calls, (index) => `call_${index}`);
};

/** Text of a message: the input of the answer tool if the model called it, otherwise all text. */
const textOf = (answer: unknown, hasTools: boolean): string | undefined => {
  const input = hasTools ? undefined : pointerAll(answer, "/content/*/input")[0];
  if (input !== undefined) return typeof input === "string" ? input : JSON.stringify(input);
  const texts = pointerTexts(answer, "/content/*/text");
  return texts.length > 0 ? texts.join("") : undefined;
};

const inputTokens = (answer: unknown): unknown => {
  const counted = INPUT_TOKENS.map((name) => pointer(answer, `/usage/${name}`)).filter((count) => typeof count === "number");
  return counted.length > 0 ? counted.reduce((sum, count) => sum + count, 0) : undefined;
};

/** Text, tool calls and usage of a message. @throws ProviderError if it has neither text nor calls */
export const completionOf = (settings: ChatSettings, question: ChatCall, answer: unknown, reason: (text: string) => string): TextAnswer => {
  const stop = pointer(answer, "/stop_reason");
  if (stop === "refusal") {
    const why = pointer(answer, "/stop_details/explanation");
    const reasonText = typeof why === "string" && why !== "" ? `: ${reason(why)}` : "";
    throw new ProviderError("refused", `the model refuses this${reasonText}`);
  }
  const hasTools = question.inputs.tools !== undefined;
  const calls = hasTools ? callsOf(answer) : [];
  const text = textOf(answer, hasTools) ?? (calls.length > 0 ? "" : undefined);
  const isCut = CUT.has(String(stop));
  if (text === undefined) throw noText(isCut);
  const id = pointer(answer, "/id");
  const { schema } = question;
  const isWrapped = schema !== undefined && answerForm(settings, question)?.by !== "words";
  return {
    text: isWrapped ? unwrapped(schema, text) : text,
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(isCut ? { isCut } : {}),
    usage: usageOf(
      question,
      calls.length > 0 ? text + JSON.stringify(calls) : text,
      inputTokens(answer),
      pointer(answer, "/usage/output_tokens"),
    ),
    requestId: typeof id === "string" ? shortId(id) : null,
  };
};
