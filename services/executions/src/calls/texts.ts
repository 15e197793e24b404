import { actualMicroUsd, DomainError, readAnswer, type JsonSchema } from "@nodeloom/kernel";
import { pause } from "@nodeloom/platform";
import type { ModelCall } from "../contract/activity-types";
import type { CallResult } from "../contract/run-types";
import { ATTEMPTS } from "../contract/timing";
import type { CatalogModel } from "../plan/model-catalog";
import { ProviderError, type TextAnswer, type TextProvider } from "../providers";
import { readyInputs, target, type CallOptions } from "./call";
import type { CallClock } from "./clock";
import { afterFailure, final, TryAgain } from "./failures";
import type { TextStream } from "./text-streams";

/** Calls of models whose provider answers one request with text. */

/** Pauses before a text model is called again that could not be reached, or whose answer broke off. */
const PAUSES_MS = [250, 500, 1_000, 2_000, 5_000];

export type WrittenText = Pick<TextStream, "restart" | "write">;

/** What an answer says as JSON, or why it does not fit its schema. */
const jsonOf = ({ text, isCut }: TextAnswer, schema: JsonSchema): Pick<CallResult, "json" | "problems"> => {
  const answer = readAnswer(text, schema);
  if ("value" in answer) return { json: answer };
  return { problems: [...answer.problems, ...(isCut ? ["ends where the most tokens were reached"] : [])] };
};

export type Texts = ReturnType<typeof createTexts>;

export const createTexts = (options: CallOptions) => {
  const { gate, submissions } = options;

  const callOnce = (
    { call, model, inputs }: { call: ModelCall; model: CatalogModel; inputs: Record<string, unknown> },
    provider: TextProvider,
    signal: AbortSignal,
    written: WrittenText,
  ): Promise<CallResult> =>
    submissions.send(call, async () => {
      written.restart();
      const { schema, repair, key: idempotencyKey } = call;
      const answer = await provider.run({ inputs, schema, repair, idempotencyKey, signal, onText: written.write });
      const { text, usage, requestId } = answer;
      const costMicroUsd = actualMicroUsd(call.price, model.inputSchema, call.inputs, { outputs: 1, ...usage });
      return { files: [], text, ...(schema ? jsonOf(answer, schema) : {}), costMicroUsd, requestId };
    });

  return {
    /**
     * Runs a text model. While the provider can't be reached, or asks to be called later, it is waited for here. A call whose
     * answer broke off is made again a few times: it has no effect but its answer.
     * @param clock how long the provider is tried, over all attempts
     * @param written hears of the text while it is written
     */
    run: async (call: ModelCall, signal: AbortSignal, clock: CallClock, written: WrittenText): Promise<CallResult> => {
      const { model, provider } = await target(options, call, "text");
      const inputs = await readyInputs(options, model, call);
      for (let failures = 1, broken = 0; ; failures += 1) {
        try {
          const run = (): Promise<CallResult> => callOnce({ call, model, inputs }, provider, signal, written);
          return await gate(model).pass(run, { key: call.userId, signal, clock });
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          if (error.kind === "incomplete") throw final("PROVIDER_RESPONSE_INCOMPLETE", `${call.model}: ${error.message}`);
          if (error.kind === "ambiguous") broken += 1;
          const next = afterFailure(call, error, broken < ATTEMPTS.textBroken, clock);
          if (next instanceof DomainError) throw next;
          await pause(next instanceof TryAgain ? next.afterMs : PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1]!, signal);
          signal.throwIfAborted();
        }
      }
    },
  };
};
