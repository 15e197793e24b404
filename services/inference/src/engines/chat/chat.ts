import { join } from "node:path";
import { InputError, type LoadEngine } from "../engine";
import type { ChatItem, LlamaLibrary } from "../libraries";
import { grammarSchema } from "./grammar-schema";

const CONTEXT_TOKENS = 4_096;
/** Context size of the operator's own models, unless they were trained with a smaller one. */
const OWN_CONTEXT_TOKENS = 8_192;
/** Tokens reserved for the markup of the chat template. */
const MARKS_TOKENS = 128;
const DEFAULT_SYSTEM = "You are a concise helpful assistant.";
/** Without a penalty, small models repeat themselves. */
const REPEAT_PENALTY = { penalty: 1.1, lastTokens: 64 };

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  text: string;
}

export interface ChatInputs {
  messages: readonly ChatMessage[];
  maxTokens: number;
  temperature: number;
  seed?: number;
  schema?: Readonly<Record<string, unknown>>;
}

const historyOf = (messages: readonly ChatMessage[]): ChatItem[] => {
  const system = messages.filter(({ role }) => role === "system").map(({ text }) => text);
  const turns = messages.filter(({ role }) => role !== "system");
  return [
    { type: "system", text: system.join("\n\n") || DEFAULT_SYSTEM },
    ...turns.map(({ role, text }): ChatItem => (role === "user" ? { type: "user", text } : { type: "model", response: [text] })),
  ];
};

/** Generates a chat completion in pieces. If a schema is set, the output is constrained to it. */
export const loadChat: LoadEngine = async (context) => {
  const library = await context.library<LlamaLibrary>("node-llama-cpp");
  const llama = await library.getLlama({
    gpu: context.gpu ?? false,
    build: "never",
    logLevel: library.LlamaLogLevel.error,
    maxThreads: context.threads,
  });
  const { weightsFile } = context;
  const model = await llama.loadModel({ modelPath: weightsFile ?? join(context.weights("chat"), "SmolLM2-135M-Instruct.Q4_1.gguf") });
  const contextSize = weightsFile === undefined ? CONTEXT_TOKENS : Math.min(OWN_CONTEXT_TOKENS, model.trainContextSize);
  const memory = await model.createContext({ contextSize, threads: context.threads });

  return {
    run: async ({ inputs }, report) => {
      const { messages, maxTokens, temperature, seed, schema } = inputs as unknown as ChatInputs;
      const lastMessage = messages.at(-1);
      if (lastMessage?.role !== "user") throw new InputError("messages: the last one must be the user's");
      const promptTokens = model.tokenize(messages.map(({ text }) => text).join("\n")).length;
      const room = contextSize - MARKS_TOKENS - promptTokens;
      if (room < 1) throw new InputError(`messages: they have ${promptTokens} tokens; the model takes ${contextSize - MARKS_TOKENS}`);
      const grammar = schema ? await llama.createGrammarForJsonSchema(grammarSchema(schema)) : undefined;
      const sequence = memory.getSequence();
      const session = new library.LlamaChatSession({ contextSequence: sequence });
      try {
        session.setChatHistory(historyOf(messages.slice(0, -1)));
        const { responseText, stopReason } = await session.promptWithMeta(lastMessage.text, {
          maxTokens: Math.min(maxTokens, room),
          temperature,
          ...(seed === undefined ? {} : { seed }),
          ...(grammar === undefined ? { repeatPenalty: REPEAT_PENALTY } : { grammar }),
          onTextChunk: report.text,
        });
        const { usedInputTokens: inputTokens, usedOutputTokens: outputTokens } = sequence.tokenMeter;
        return { text: responseText, isCut: stopReason === "maxTokens", usage: { inputTokens, outputTokens } };
      } finally {
        session.dispose();
        sequence.dispose();
      }
    },
  };
};
