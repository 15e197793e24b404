import { isRecord } from "@nodeloom/kernel";
import { shortId } from "../../answers";
import { usageOf, type Asked } from "../../chat/asked";
import { ProviderError, type TextAnswer } from "../../dialect";
import { pointer, pointerAll } from "../../pointer";

/** What an answer of Google's generateContent says: text or JSON, tokens, why it ended. */

/** Reasons to end that leave a text as it should be. */
const ENDED = new Set([undefined, "STOP", "FINISH_REASON_UNSPECIFIED", "MAX_TOKENS"]);
/** Those of the provider's rules for content. */
const POLICY = /SAFETY|PROHIBITED_CONTENT|BLOCKLIST|SPII|RECITATION|JAILBREAK|MODEL_ARMOR/;
const MAX_REASON_CHARS = 100;

/** The text that is in an answer, or in a piece of one, without the model's thoughts; undefined where there is none. */
export const textIn = (answer: unknown): string | undefined => {
  const texts = pointerAll(answer, "/candidates/0/content/parts/*").flatMap((part) =>
    isRecord(part) && typeof part.text === "string" && part.thought !== true ? [part.text] : [],
  );
  return texts.length > 0 ? texts.join("") : undefined;
};

/** Why an answer has no text, or not the one it was to have. */
const refusalOf = (answer: unknown): ProviderError | undefined => {
  const blocked = pointer(answer, "/promptFeedback/blockReason");
  const ended = pointer(answer, "/candidates/0/finishReason");
  const why = typeof blocked === "string" ? blocked : ended;
  if (typeof blocked !== "string" && ENDED.has(ended as string | undefined)) return undefined;
  const reason = String(why).slice(0, MAX_REASON_CHARS);
  if (POLICY.test(reason) || typeof blocked === "string")
    return new ProviderError("refused", `the provider's content policy does not allow this (${reason})`);
  return new ProviderError("failed", `the model ended without an answer (${reason})`);
};

const sum = (...counts: unknown[]): number | undefined => {
  const known = counts.filter((count) => typeof count === "number");
  return known.length > 0 ? known.reduce((total, count) => total + count, 0) : undefined;
};

/** The text of an answer and what it used: thoughts are paid for as text. @throws ProviderError when it has no text */
export const completionOf = (asked: Asked, answer: unknown): TextAnswer => {
  const refusal = refusalOf(answer);
  if (refusal) throw refusal;
  const text = textIn(answer);
  if (text === undefined) throw new ProviderError("incomplete", "the provider's answer has no text");
  const id = pointer(answer, "/responseId");
  const count = (name: string): unknown => pointer(answer, `/usageMetadata/${name}`);
  return {
    text,
    ...(pointer(answer, "/candidates/0/finishReason") === "MAX_TOKENS" ? { isCut: true } : {}),
    usage: usageOf(
      asked,
      text,
      sum(count("promptTokenCount"), count("toolUsePromptTokenCount")),
      sum(count("candidatesTokenCount"), count("thoughtsTokenCount")),
    ),
    requestId: typeof id === "string" ? shortId(id) : null,
  };
};
