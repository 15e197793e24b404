import type { Model } from "@nodeloom/client";
import { isRecord, type JsonSchema } from "@nodeloom/kernel/graph";
import { modelsInOrder } from "../../api/model-order";
import type { ModelAnswer, Tool, ToolCall, Turn } from "./loop";

/** A question to a chat model as inputs of its run, and the answer in the run's result. */

const MAX_TOKENS = 4_096;
const TOKEN_LIMITS = ["maxTokens", "max_tokens", "max_completion_tokens"] as const;

export interface Question {
  model: Model;
  system: string;
  prompt: string;
  /** Earlier requests and answers. */
  history: readonly Turn[];
  tools: readonly Tool[];
  /** Turns after the prompt. */
  steps: readonly Turn[];
}

const propertiesOf = ({ inputSchema }: Pick<Model, "inputSchema">): Readonly<Record<string, unknown>> =>
  isRecord(inputSchema.properties) ? inputSchema.properties : {};

/** Models that can be the assistant, best first: ready chat models that call tools. The sandbox's stand-in doesn't think. */
export const assistantModels = (models: readonly Model[], user: { role: string; tier: string }): readonly Model[] =>
  modelsInOrder(models, user).filter((model) => {
    const properties = propertiesOf(model);
    return !model.sandbox && model.status === "ready" && Object.hasOwn(properties, "tools") && Object.hasOwn(properties, "steps");
  });

/** The model's input for the length of its answer. */
const tokenLimit = (model: Model): Record<string, number> => {
  const properties = propertiesOf(model);
  const name = TOKEN_LIMITS.find((one) => Object.hasOwn(properties, one));
  if (name === undefined) return {};
  const { maximum = MAX_TOKENS } = properties[name] as JsonSchema;
  return { [name]: Math.min(Number(maximum), MAX_TOKENS) };
};

export const inputsOf = ({ model, system, prompt, history, tools, steps }: Question): Record<string, unknown> => ({
  ...{ prompt, system, ...tokenLimit(model) },
  ...(history.length > 0 ? { history } : {}),
  ...(steps.length > 0 ? { steps } : {}),
  tools: tools.map(({ name, description, parameters }) => ({ type: "function", function: { name, description, parameters } })),
});

const isCall = (value: unknown): value is ToolCall =>
  isRecord(value) &&
  typeof value.id === "string" &&
  isRecord(value.function) &&
  typeof value.function.name === "string" &&
  typeof value.function.arguments === "string";

/** Text and tool calls in the result of a run. */
export const answerIn = (result: unknown): ModelAnswer => {
  const { text, json } = isRecord(result) ? result : {};
  const calls = isRecord(json) && Array.isArray(json.tool_calls) ? json.tool_calls.filter(isCall) : [];
  return { text: typeof text === "string" ? text : "", calls };
};
