import type { JsonSchema } from "@nodeloom/kernel";

/** Inputs that text models share: earlier turns, sampling and tools. */

/** Maximum number of turns before the prompt. */
const MAX_TURNS = 500;
/** Limit of OpenAI's API. */
const MAX_TOOLS = 128;
const MAX_NAME_CHARS = 64;
const MAX_ID_CHARS = 1_000;
const MAX_STOP_CHARS = 100;

/** Name and arguments of a call. The arguments are the model's JSON text. */
const toolCalls = (maxCharacters: number): JsonSchema => ({
  type: "array",
  maxItems: MAX_TOOLS,
  items: {
    type: "object",
    required: ["id", "function"],
    properties: {
      id: { type: "string", maxLength: MAX_ID_CHARS },
      type: { type: "string", enum: ["function"] },
      function: {
        type: "object",
        required: ["name", "arguments"],
        properties: { name: { type: "string", maxLength: MAX_NAME_CHARS }, arguments: { type: "string", maxLength: maxCharacters } },
      },
    },
  },
});

const turns = (title: string, description: string, maxCharacters: number, hasTools: boolean): JsonSchema => ({
  type: "array",
  title,
  description,
  maxItems: MAX_TURNS,
  items: {
    type: "object",
    additionalProperties: false,
    required: ["role", "content"],
    properties: {
      role: { type: "string", enum: ["user", "assistant", ...(hasTools ? ["tool"] : [])] },
      content: { type: "string", maxLength: maxCharacters },
      ...(hasTools ? { tool_calls: toolCalls(maxCharacters), tool_call_id: { type: "string", maxLength: MAX_ID_CHARS } } : {}),
    },
  },
});

const HISTORY = "What was said before the prompt, the oldest first.";

/** Input for the conversation before the prompt. @param maxCharacters maximum per turn */
export const historyInput = (maxCharacters: number): JsonSchema => turns("Earlier turns", HISTORY, maxCharacters, false);

/** Sampling and stop sequences, named as in OpenAI's API. */
export const SAMPLING_INPUTS: Readonly<Record<"top_p" | "stop", JsonSchema>> = {
  top_p: {
    type: "number",
    title: "Top P",
    description: "Share of the likeliest words from which the model chooses.",
    minimum: 0,
    maximum: 1,
  },
  stop: {
    type: "array",
    title: "Stop",
    description: "The answer ends before any of these texts.",
    minItems: 1,
    maxItems: 4,
    items: { type: "string", minLength: 1, maxLength: MAX_STOP_CHARS },
  },
};

/** Maximum characters of a turn if the entry has no input for earlier turns. */
const USUAL_TURN_CHARACTERS = 262_144;

/**
 * Inputs of models that call tools, in the form of OpenAI's chat completions (platform.openai.com/docs/api-reference/chat).
 * @param maxCharacters maximum per turn
 */
export const toolInputs = (maxCharacters = USUAL_TURN_CHARACTERS): Readonly<Record<string, JsonSchema>> => ({
  history: turns("Earlier turns", HISTORY, maxCharacters, true),
  steps: turns("Steps", "What came after the prompt: the tools that the model called, and what these returned.", maxCharacters, true),
  tools: {
    type: "array",
    title: "Tools",
    description: 'Functions that the model can call: {"type": "function", "function": {"name", "description", "parameters"}}.',
    minItems: 1,
    maxItems: MAX_TOOLS,
    items: {
      type: "object",
      required: ["type", "function"],
      properties: {
        type: { type: "string", enum: ["function"] },
        function: {
          type: "object",
          required: ["name"],
          properties: {
            name: { type: "string", pattern: `^[A-Za-z0-9_-]{1,${MAX_NAME_CHARS}}$` },
            description: { type: "string" },
            parameters: { type: "object" },
          },
        },
      },
    },
  },
  tool_choice: {
    title: "Tool choice",
    description: '"auto", "none", "required", or the tool to call: {"type": "function", "function": {"name": "…"}}.',
    anyOf: [
      { type: "string", enum: ["auto", "none", "required"] },
      {
        type: "object",
        required: ["type", "function"],
        properties: {
          type: { type: "string", enum: ["function"] },
          function: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
        },
      },
    ],
  },
  parallel_tool_calls: {
    type: "boolean",
    title: "Parallel tool calls",
    description: "Lets one answer call several tools.",
  },
});
