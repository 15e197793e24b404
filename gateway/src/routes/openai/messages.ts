import { invalidRequest } from "@nodeloom/kernel";
import { z } from "zod";

/** Maps chat messages to inputs of a text model: question, system prompt, pictures, and tool calls. */

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const imagePart = z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string().min(1) }) });
const content = z.union([z.string(), z.array(z.discriminatedUnion("type", [textPart, imagePart]))]);

export const toolCall = z
  .looseObject({
    id: z.string().min(1),
    type: z.literal("function"),
    function: z.looseObject({ name: z.string().min(1), arguments: z.string().meta({ description: "JSON, as the model wrote it" }) }),
  })
  .meta({ id: "OpenAiToolCall" });
export type ToolCall = z.infer<typeof toolCall>;

export const message = z
  .looseObject({
    role: z.enum(["system", "developer", "user", "assistant", "tool"]),
    content: content
      .nullish()
      .meta({ description: "A text, or parts of the types `text` and `image_url`. Null only for an assistant's message" }),
    tool_calls: z.array(toolCall).nullish().meta({ description: "For an assistant's message: the tools that it called" }),
    tool_call_id: z.string().nullish().meta({ description: "For a tool's message: the call that it answers" }),
  })
  .refine(({ role, content: messageContent }) => role === "assistant" || (messageContent !== null && messageContent !== undefined), {
    path: ["content"],
    message: "is required, and must be text or a list of parts: only assistants can send null",
  })
  .meta({ id: "OpenAiMessage" });
export type Message = z.infer<typeof message>;

const textOf = ({ content: messageContent }: Message): string =>
  typeof messageContent === "string"
    ? messageContent
    : (messageContent ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

const imagesOf = ({ content: messageContent }: Message): string[] =>
  Array.isArray(messageContent) ? messageContent.flatMap((part) => (part.type === "image_url" ? [part.image_url.url] : [])) : [];

const SPEAKERS: Readonly<Record<string, string>> = { user: "User", assistant: "Assistant" };

const isInstruction = ({ role }: Message): boolean => role === "system" || role === "developer";
const isOfTools = ({ role, tool_calls: calls }: Message): boolean => role === "tool" || (calls?.length ?? 0) > 0;

export interface Turn {
  role: "user" | "assistant" | "tool";
  content: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
}

export interface Question {
  prompt: string;
  /** Earlier turns, for models that support a history. */
  history?: Turn[];
  /** Turns after the prompt, for models that call tools. */
  steps?: Turn[];
  system?: string;
  image?: string[];
}

/** Conversation features that a model supports. */
export interface Takes {
  turns: boolean;
  tools: boolean;
}

/** Writes several turns as one text with speakers. It ends with the name of the next speaker. */
const transcriptOf = (turns: readonly Message[]): string =>
  [...turns.map((turn) => `${SPEAKERS[turn.role]!}: ${textOf(turn)}`), "Assistant:"].join("\n\n");

const turnOf = (turn: Message): Turn => ({
  role: turn.role as Turn["role"],
  content: textOf(turn),
  ...(turn.role === "assistant" && turn.tool_calls ? { tool_calls: turn.tool_calls } : {}),
  ...(turn.role === "tool" ? { tool_call_id: turn.tool_call_id ?? "" } : {}),
});

const wordsOf = (turns: readonly Message[], takes: Takes): Pick<Question, "prompt" | "history" | "steps"> => {
  const last = turns.at(-1)!;
  const hasTools = turns.some(isOfTools);
  if (hasTools && !takes.tools)
    throw invalidRequest([{ path: "messages", message: "has tool calls, which the target of `model` doesn't support" }]);
  if (turns.length === 1) return { prompt: textOf(last) };
  if (!takes.turns || (last.role !== "user" && !hasTools)) return { prompt: transcriptOf(turns) };
  const questionIndex = turns.findLastIndex(({ role }) => role === "user");
  const [history, steps] = [turns.slice(0, questionIndex).map(turnOf), turns.slice(questionIndex + 1).map(turnOf)];
  return {
    prompt: textOf(turns[questionIndex]!),
    ...(history.length > 0 ? { history } : {}),
    ...(steps.length > 0 ? { steps } : {}),
  };
};

/**
 * Uses the user's last turn as the prompt, with earlier turns and following tool calls. If the model has no history, or the assistant spoke
 * last, all turns become one text.
 * @throws DomainError INVALID_REQUEST without a user turn, or for tool calls that the model doesn't support
 */
export const questionOf = (messages: readonly Message[], takes: Takes): Question => {
  const turns = messages.filter((each) => !isInstruction(each));
  if (!turns.some(({ role }) => role === "user"))
    throw invalidRequest([{ path: "messages", message: "must contain a message of the role user" }]);
  const system = messages.filter(isInstruction).map(textOf).join("\n\n");
  const image = messages.flatMap(imagesOf);
  return { ...wordsOf(turns, takes), ...(system === "" ? {} : { system }), ...(image.length === 0 ? {} : { image }) };
};
