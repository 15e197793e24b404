import { startRecorder } from "../../../../test-support/recorder";

const CALL_MS = 150;

export interface ChatProvider {
  /** `host:port` for the platform's egress exceptions. */
  address: string;
  /** Body for `POST /api/admin/models`. */
  entry(internalName: string, maxConcurrent: number): object;
  counts: { running: number; most: number; ended: number };
  close(): Promise<void>;
}

/** A provider with the form of OpenAI's chat completions that counts how many calls it serves at once. */
export const startChatProvider = async (): Promise<ChatProvider> => {
  const counts = { running: 0, most: 0, ended: 0 };
  const { address, close } = await startRecorder((response) => {
    counts.running += 1;
    counts.most = Math.max(counts.most, counts.running);
    response.on("close", () => (counts.running -= 1));
    setTimeout(() => {
      counts.ended += 1;
      const choices = [{ index: 0, message: { role: "assistant", content: "warp and weft" }, finish_reason: "stop" }];
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ id: "1", choices, usage: { prompt_tokens: 1, completion_tokens: 3 } }));
    }, CALL_MS);
  });
  return {
    address,
    entry: (internalName, maxConcurrent) => ({
      ...{ internalName, displayName: "Chat", description: "Answers with stock phrases.", modality: "text", outputs: ["text"] },
      provider: { kind: "llm", baseUrl: `http://${address}/v1`, model: "chat", maxConcurrent },
      inputSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        ...{ type: "object", additionalProperties: false, required: ["prompt"] },
        properties: { prompt: { type: "string", title: "Prompt", minLength: 1, maxLength: 2_000 } },
      },
      price: { perRunUsd: 0 },
      ...{ minTier: "free", trialRuns: 0, tasks: [] },
    }),
    counts,
    close,
  };
};
