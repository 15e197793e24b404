import { shortId } from "../../answers";
import { usageOf, type Asked, type ChatSettings } from "../../chat/asked";
import { unwrapped } from "../../chat/structured";
import { ProviderError, type TextAnswer } from "../../dialect";
import { pointer, pointerAll, pointerTexts } from "../../pointer";
import { answerForm } from "./answer-form";

/** What an answer of Anthropic's Messages API says: text or JSON, tokens, why it ended. */

/** Tokens that go in are counted by whether they were cached. */
const INPUT_TOKENS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
/** Reasons to stop that are bounds of an answer. */
const CUT = new Set(["max_tokens", "model_context_window_exceeded"]);
const MAX_REFUSAL_CHARS = 300;

/** The text of a message: what the tool was given, where there is one, else all that was written. */
const textOf = (answer: unknown): string | undefined => {
  const input = pointerAll(answer, "/content/*/input")[0];
  if (input !== undefined) return typeof input === "string" ? input : JSON.stringify(input);
  const texts = pointerTexts(answer, "/content/*/text");
  return texts.length > 0 ? texts.join("") : undefined;
};

const inputTokens = (answer: unknown): unknown => {
  const counted = INPUT_TOKENS.map((name) => pointer(answer, `/usage/${name}`)).filter((count) => typeof count === "number");
  return counted.length > 0 ? counted.reduce((sum, count) => sum + count, 0) : undefined;
};

/** The text of a message and what it used. @throws ProviderError when it has no text */
export const completionOf = (settings: ChatSettings, asked: Asked, answer: unknown): TextAnswer => {
  const stop = pointer(answer, "/stop_reason");
  if (stop === "refusal") {
    const why = pointer(answer, "/stop_details/explanation");
    const said = typeof why === "string" && why !== "" ? `: ${why.slice(0, MAX_REFUSAL_CHARS)}` : "";
    throw new ProviderError("refused", `the model refuses this${said}`);
  }
  const text = textOf(answer);
  if (text === undefined) throw new ProviderError("incomplete", "the provider's answer has no text");
  const id = pointer(answer, "/id");
  const { schema } = asked;
  const isWrapped = schema !== undefined && answerForm(settings, asked)?.by !== "words";
  return {
    text: isWrapped ? unwrapped(schema, text) : text,
    ...(CUT.has(String(stop)) ? { isCut: true } : {}),
    usage: usageOf(asked, text, inputTokens(answer), pointer(answer, "/usage/output_tokens")),
    requestId: typeof id === "string" ? shortId(id) : null,
  };
};
