import { z } from "zod";
import { questionOf, type Message } from "./messages";
import type { RunContext, OpenAiRun } from "./runs";
import { readTarget } from "./target";
import { IGNORED, TOOL_CHOICES } from "./vocabulary";

/** Maps a conversation to a run of a text model or workflow, for every OpenAI endpoint. */

const ANY_OBJECT = { type: "object" };

export const jsonSchema = z.record(z.string(), z.unknown());

export const tool = z
  .looseObject({
    type: z.literal("function"),
    function: z.looseObject({
      name: z.string().min(1),
      description: z.string().nullish(),
      parameters: jsonSchema.nullish(),
    }),
  })
  .meta({ id: "OpenAiTool" });
export type Tool = z.infer<typeof tool>;
export const toolChoice = z.union([
  z.enum(TOOL_CHOICES),
  z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: z.string().min(1) }) }),
]);
export type ToolChoice = z.infer<typeof toolChoice>;

export interface Conversation {
  model: string;
  messages: readonly Message[];
  tools?: readonly Tool[] | null | undefined;
  toolChoice?: ToolChoice | null | undefined;
  format?: { type: "text" | "json_object" } | { type: "json_schema"; schema: object } | undefined;
  user?: string | null | undefined;
  inputs?: Record<string, unknown> | undefined;
  /** All other parameters by their OpenAI names. */
  parameters: Readonly<Record<string, unknown>>;
}

const schemaOf = (format: Conversation["format"]): object | undefined => {
  if (format?.type === "json_schema") return format.schema;
  return format?.type === "json_object" ? ANY_OBJECT : undefined;
};

/** Drops null members, because schemas of models don't accept null. */
const withoutNulls = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined)) as T;

/** Providers reject tool parameters without tools. */
const toolInputs = ({ tools, toolChoice: choice, parameters }: Conversation): Record<string, unknown> => {
  if (!tools || tools.length === 0) return { tool_choice: choice === "auto" || choice === "none" ? undefined : choice };
  return {
    tools: tools.map((one) => ({ ...one, function: withoutNulls(one.function) })),
    tool_choice: choice,
    parallel_tool_calls: parameters.parallel_tool_calls,
  };
};

/** @throws DomainError for an invalid `model`; INVALID_REQUEST for parameters that the model doesn't accept */
export const wantedOf = async (context: RunContext, conversation: Conversation): Promise<OpenAiRun> => {
  const target = await readTarget(context.gateway, context.caller, conversation.model, "text");
  const question = questionOf(conversation.messages, { turns: target.takes("history"), tools: target.takes("steps") });
  const { parallel_tool_calls: _, ...parameters } = conversation.parameters;
  const parameterInputs = { ...parameters, ...toolInputs(conversation), ...question };
  const inputs = target.inputsOf(parameterInputs, { ignored: IGNORED.text, own: conversation.inputs });
  return { target, inputs, schema: schemaOf(conversation.format), user: conversation.user ?? undefined };
};
