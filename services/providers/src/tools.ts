import { isRecord } from "@nodeloom/kernel";

/** Tools that a text model can call, and its tool calls, in the form of OpenAI's chat completions. */

/** A call of a tool. `arguments` is the JSON text that the model wrote. */
export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
  /** Provider-specific members that must be returned with the call, as in Google's compatible API. */
  extra_content?: unknown;
}

export interface Tool {
  name: string;
  description?: string;
  /** JSON Schema of the arguments. */
  parameters?: Record<string, unknown>;
}

export type ToolChoice = "auto" | "none" | "required" | { name: string };

/** Inputs that dialects other than OpenAI's translate. */
export const TOOL_INPUTS = ["tools", "tool_choice", "parallel_tool_calls"];

interface ToolInputs {
  inputs: Readonly<Record<string, unknown>>;
}

/** Maximum tool calls that are kept per answer. */
const MAX_CALLS = 128;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The tools of a call; empty if it has none. */
export const toolsOf = ({ inputs: { tools } }: ToolInputs): Tool[] =>
  (Array.isArray(tools) ? tools : []).flatMap((tool: unknown): Tool[] => {
    const toolFunction = isRecord(tool) ? tool.function : undefined;
    if (!isRecord(toolFunction) || typeof toolFunction.name !== "string") return [];
    const { name, description, parameters } = toolFunction;
    return [{ name, ...(typeof description === "string" ? { description } : {}), ...(isRecord(parameters) ? { parameters } : {}) }];
  });

/** The tool that the model must call; undefined if the model decides. */
export const toolChoiceOf = ({ inputs: { tool_choice: choice } }: ToolInputs): ToolChoice | undefined => {
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  const chosenFunction = isRecord(choice) ? choice.function : undefined;
  return isRecord(chosenFunction) && typeof chosenFunction.name === "string" ? { name: chosenFunction.name } : undefined;
};

/**
 * Reads tool calls in OpenAI's form.
 * @param idOf creates an id, from the index, for a call without one
 */
export const toolCallsIn = (list: unknown, idOf: (index: number) => string): ToolCall[] =>
  (Array.isArray(list) ? list : []).slice(0, MAX_CALLS).flatMap((call: unknown, index): ToolCall[] => {
    const calledFunction = isRecord(call) ? call.function : undefined;
    if (!isRecord(call) || !isRecord(calledFunction) || textOf(calledFunction.name) === "") return [];
    // Some servers return an object instead of its JSON text.
    const argumentsText = isRecord(calledFunction.arguments) ? JSON.stringify(calledFunction.arguments) : textOf(calledFunction.arguments);
    return [
      {
        id: textOf(call.id) || idOf(index),
        type: "function",
        function: { name: textOf(calledFunction.name), arguments: argumentsText || "{}" },
        ...(call.extra_content === undefined ? {} : { extra_content: call.extra_content }),
      },
    ];
  });

/** Arguments of a tool call as an object, for dialects that don't accept text. */
export const argumentsOf = ({ function: { arguments: text } }: ToolCall): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
};
