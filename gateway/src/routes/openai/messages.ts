import { invalidRequest } from "@nodeloom/kernel";
import { z } from "zod";

/** Messages of a chat as the inputs of a text model: what it is asked, how it is to answer, and the pictures. */

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const imagePart = z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string().min(1) }) });
const content = z.union([z.string(), z.array(z.discriminatedUnion("type", [textPart, imagePart]))]);
export const message = z
  .looseObject({
    role: z.enum(["system", "developer", "user", "assistant"]),
    content: content.meta({ description: "A text, or parts of the types `text` and `image_url`" }),
  })
  .meta({ id: "OpenAiMessage" });
export type Message = z.infer<typeof message>;

const textOf = ({ content: given }: Message): string =>
  typeof given === "string" ? given : given.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

const imagesOf = ({ content: given }: Message): string[] =>
  typeof given === "string" ? [] : given.flatMap((part) => (part.type === "image_url" ? [part.image_url.url] : []));

const SPEAKERS: Readonly<Record<string, string>> = { user: "User", assistant: "Assistant" };

const isInstruction = ({ role }: Message): boolean => role === "system" || role === "developer";

export interface Question {
  prompt: string;
  /** What was said before, of models that take turns. */
  history?: { role: "user" | "assistant"; content: string }[];
  system?: string;
  image?: string[];
}

/** Several turns as one text that names who said what; it ends with whose turn it is. */
const transcriptOf = (turns: readonly Message[]): string =>
  [...turns.map((turn) => `${SPEAKERS[turn.role]!}: ${textOf(turn)}`), "Assistant:"].join("\n\n");

const wordsOf = (turns: readonly Message[], takesTurns: boolean): Pick<Question, "prompt" | "history"> => {
  const last = turns.at(-1)!;
  if (turns.length === 1) return { prompt: textOf(last) };
  if (!takesTurns || last.role !== "user") return { prompt: transcriptOf(turns) };
  const history = turns.slice(0, -1).map((turn) => ({ role: turn.role as "user" | "assistant", content: textOf(turn) }));
  return { prompt: textOf(last), history };
};

/**
 * The last turn is asked, with those before it as they are; of models that take no turns, and where the last is not the user's, all of
 * them are one text.
 * @throws DomainError INVALID_REQUEST where no user says anything
 */
export const questionOf = (messages: readonly Message[], takesTurns: boolean): Question => {
  const turns = messages.filter((each) => !isInstruction(each));
  if (!turns.some(({ role }) => role === "user")) throw invalidRequest([{ path: "messages", message: "must have one of the role user" }]);
  const system = messages.filter(isInstruction).map(textOf).join("\n\n");
  const image = messages.flatMap(imagesOf);
  return { ...wordsOf(turns, takesTurns), ...(system === "" ? {} : { system }), ...(image.length === 0 ? {} : { image }) };
};
