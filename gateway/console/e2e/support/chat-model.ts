import type { ServerResponse } from "node:http";
import { startRecorder } from "../../../../test-support/recorder";

/** A chat model with the API of OpenAI's chat completions whose answers a test writes. */

interface Message {
  role: string;
  content: string | null;
}

export interface ChatRequest {
  messages: readonly Message[];
  tools: readonly { function: { name: string } }[];
}

/** Text, or tool calls by name. The text `hang` sends no answer. */
export type ChatAnswer = string | readonly (readonly [tool: string, args: unknown])[];

export interface ChatModel {
  /** `host:port` for the platform's egress exceptions. */
  address: string;
  /** Body for `POST /api/admin/models`. */
  entry(internalName: string): object;
  /** Answers of the next requests; the last one is repeated. */
  script(answers: readonly ChatAnswer[]): void;
  requests: ChatRequest[];
  close(): Promise<void>;
}

const HANG = "hang";

const messageOf = (answer: ChatAnswer): object => {
  if (typeof answer === "string") return { role: "assistant", content: answer };
  const calls = answer.map(([name, args], index) => ({
    ...{ id: `call_${name}_${index}`, type: "function" },
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  return { role: "assistant", content: null, tool_calls: calls };
};

const send = (response: ServerResponse, answer: ChatAnswer): void => {
  const reason = typeof answer === "string" ? "stop" : "tool_calls";
  const choices = [{ index: 0, message: messageOf(answer), finish_reason: reason }];
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ id: "1", choices, usage: { prompt_tokens: 10, completion_tokens: 10 } }));
};

export const startChatModel = async (): Promise<ChatModel> => {
  let answers: ChatAnswer[] = [];
  const requests: ChatRequest[] = [];
  const { address, close } = await startRecorder((response, { body }) => {
    requests.push(JSON.parse(body) as ChatRequest);
    const answer = answers.length > 1 ? answers.shift()! : (answers[0] ?? "");
    if (answer !== HANG) send(response, answer);
  });
  const text = (title: string) => ({ type: "string", title, maxLength: 262_144 });
  return {
    address,
    entry: (internalName) => ({
      ...{ internalName, displayName: "Thinker", description: "Builds pipelines.", modality: "text", outputs: ["text"] },
      provider: { kind: "llm", baseUrl: `http://${address}/v1`, model: "thinker", tools: true },
      inputSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        ...{ type: "object", additionalProperties: false, required: ["prompt"] },
        properties: { prompt: text("Prompt"), system: text("System prompt") },
      },
      price: { perRunUsd: 0.01 },
      ...{ minTier: "free", trialRuns: 0, tasks: [] },
    }),
    script: (next) => {
      answers = [...next];
    },
    requests,
    close,
  };
};
