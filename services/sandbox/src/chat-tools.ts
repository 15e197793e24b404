import { createHash } from "node:crypto";
import { z } from "zod";
import { composeJson } from "./chat-json";

/** Generates tool calls. The conversation fully determines the result. */

const MAX_TOOLS = 128;
const ID_CHARS = 24;

export const toolSchema = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
  }),
});
export const toolsSchema = z.array(toolSchema).min(1).max(MAX_TOOLS);
export const toolChoiceSchema = z.union([
  z.enum(["auto", "none", "required"]),
  z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string() }) }),
]);
type Tools = z.infer<typeof toolsSchema>;

export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export interface Asking {
  tools: Tools;
  choice: z.infer<typeof toolChoiceSchema>;
  /** The user's last message. */
  prompt: string;
  /** True if a tool has returned a result since the prompt. */
  isAnswered: boolean;
  /** Texts of all messages. */
  context: readonly string[];
}

/** The tool that the prompt names, otherwise the first tool. */
const namedTool = (tools: Tools, prompt: string): Tools[number] =>
  tools.find(({ function: { name } }) => prompt.toLowerCase().includes(name.toLowerCase())) ?? tools[0]!;

/**
 * Returns the next tool call. With `auto`, it calls the tool that the prompt names, otherwise the first. After a tool has returned, there
 * are no further calls. The arguments match the tool's schema.
 */
export const composeCall = ({ tools, choice, prompt, isAnswered, context }: Asking): ToolCall | undefined => {
  if (choice === "none" || (choice === "auto" && isAnswered)) return undefined;
  const tool = typeof choice === "string" ? namedTool(tools, prompt) : tools.find((one) => one.function.name === choice.function.name);
  if (!tool) return undefined;
  const { name, parameters } = tool.function;
  const id = createHash("sha256")
    .update(JSON.stringify([name, ...context]))
    .digest("hex")
    .slice(0, ID_CHARS);
  const text = composeJson(prompt, { type: "object", ...parameters }, context);
  return { id: `call_${id}`, type: "function", function: { name, arguments: text } };
};
