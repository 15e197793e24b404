import { actualMicroUsd, readAnswer, type JsonSchema } from "@nodeloom/kernel";
import { doubling, retry } from "@nodeloom/platform";
import type { ModelCall } from "../run/calls";
import type { CallResult } from "../run/types";
import { ATTEMPTS, TIMING } from "../run/timing";
import { ProviderError, type TextAnswer } from "@nodeloom/providers";
import { readyCall, type CallOptions, type ReadyCall } from "./call";
import type { CallClock } from "./clock";
import { afterFailure, TryAgain } from "./failures";
import type { TextStream } from "./text-streams";

/** Makes calls of models that answer one request with text. */

/** Longest pause between calls of a text model that was unreachable or ended its answer early. */
const LONGEST_PAUSE_MS = 5_000;

export type WrittenText = Pick<TextStream, "restart" | "write">;

/** Returns the JSON of an answer, or the reason why it doesn't match the schema. */
const jsonOf = ({ text, isCut }: TextAnswer, schema: JsonSchema): Pick<CallResult, "json" | "problems"> => {
  const answer = readAnswer(text, schema);
  if ("value" in answer) return { json: answer };
  return { problems: [...answer.problems, ...(isCut ? ["it ends where the most tokens were reached"] : [])] };
};

export type Texts = ReturnType<typeof createTexts>;

export const createTexts = (options: CallOptions) => {
  const { gate, submissions } = options;

  const callOnce = (
    { call, model, provider, inputs }: ReadyCall<"text">,
    signal: AbortSignal,
    textStream: WrittenText,
  ): Promise<CallResult> =>
    submissions.send(call, async () => {
      textStream.restart();
      const { schema, repair, key: idempotencyKey } = call;
      const answer = await provider.run({ inputs, schema, repair, idempotencyKey, signal, onText: textStream.write });
      const { text, usage, requestId, toolCalls } = answer;
      const { inputTokens, outputTokens, isEstimated } = usage;
      const costMicroUsd = actualMicroUsd(call.price, model.inputSchema, call.inputs, { outputs: 1, inputTokens, outputTokens });
      const counted = isEstimated ? {} : { usage: { inputTokens, outputTokens } };
      // A tool call isn't the final answer, so the schema doesn't apply yet.
      const jsonPart = toolCalls ? { json: { value: { tool_calls: toolCalls } } } : schema ? jsonOf(answer, schema) : {};
      const cut = answer.isCut ? { isCut: true as const } : {};
      return { files: [], text, ...jsonPart, costMicroUsd, requestId, ...counted, ...cut };
    });

  return {
    /**
     * Runs a text model. Waits while the provider is unreachable or asks to be called later. An incomplete answer is requested again a few
     * times, because the request has no other effect.
     * @param clock limits retries over all attempts
     * @param textStream receives the text while the model writes it
     */
    run: async (call: ModelCall, signal: AbortSignal, clock: CallClock, textStream: WrittenText): Promise<CallResult> => {
      const ready = await readyCall(options, call, "text");
      let broken = 0;
      const attempt = (): Promise<CallResult> => {
        const run = (): Promise<CallResult> => callOnce(ready, signal, textStream);
        return gate(ready.model)
          .pass(run, { key: call.userId, signal, clock })
          .catch((error: unknown) => {
            if (!(error instanceof ProviderError)) throw error;
            if (error.kind === "ambiguous") broken += 1;
            throw afterFailure(call, error, broken < ATTEMPTS.textBroken, clock);
          });
      };
      const askedMs = (error: unknown): number | undefined => (error instanceof TryAgain ? error.afterMs : undefined);
      const shouldRetry = (error: unknown): boolean => error instanceof ProviderError || error instanceof TryAgain;
      return retry(attempt, { pausesMs: doubling(TIMING.firstPause, LONGEST_PAUSE_MS), askedMs, shouldRetry, signal });
    },
  };
};
