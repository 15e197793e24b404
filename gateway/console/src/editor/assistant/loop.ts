import { isRecord, shownName } from "@nodeloom/kernel/graph";
import { ASSISTANT_ANSWERS } from "../../messages/editor/assistant-prompt";

/** Lets a chat model call tools until it has answered. The model and the tools are arguments; nothing else is called. */

/** A tool call in the form of OpenAI's chat completions. `arguments` is the model's JSON text. */
export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export interface Turn {
  role: "user" | "assistant" | "tool";
  content: string;
  tool_calls?: readonly ToolCall[];
  tool_call_id?: string;
}

export interface ModelAnswer {
  /** Empty if the model only calls tools. */
  text: string;
  calls: readonly ToolCall[];
}

export interface ToolAnswer {
  text: string;
  isError?: boolean;
}

export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Readonly<Record<string, unknown>>;
  /** Problems of arguments; empty if they are valid. */
  problemsOf(value: unknown): readonly string[];
  /** @param argumentsText a JSON object that has passed `problemsOf` */
  call(argumentsText: string, signal: AbortSignal): Promise<ToolAnswer>;
}

export interface Bounds {
  /** Calls of the model. */
  turns: number;
  /** Calls of tools. */
  calls: number;
  /** Failures of the same call, or of any calls in a row. */
  failures: number;
  /** Characters of all turns of a request. */
  characters: number;
  ms: number;
}

export const BOUNDS: Bounds = { turns: 24, calls: 60, failures: 3, characters: 400_000, ms: 600_000 };

/** Longer answers of tools are cut. */
const MAX_ANSWER_CHARS = 40_000;

/** The credit limit of the user doesn't allow the next call. */
export class CeilingReached extends Error {
  override readonly name = "CeilingReached";
}

export type Ending =
  | { kind: "answered"; text: string }
  | { kind: "cancelled" | "deadline" | "turns" | "calls" | "characters" | "silent" }
  | { kind: "failures" | "ceiling" | "failed"; message: string };

export interface Request {
  tools: readonly Tool[];
  /** Asks the model. @param steps turns after the prompt */
  ask(steps: readonly Turn[], signal: AbortSignal): Promise<ModelAnswer>;
  bounds?: Bounds;
  /** Aborts when the user cancels. */
  signal: AbortSignal;
  /** Called for the text beside tool calls. */
  onText?(text: string): void;
  /** Called after each tool call. */
  onCall?(name: string, answer: ToolAnswer): void;
}

const failed = (text: string): ToolAnswer => ({ text, isError: true });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text === "" ? "{}" : text) as unknown;
  } catch {
    return undefined;
  }
};

/** Answers a call. Its mistakes are answers, so that the model can correct them. */
const answerTo = async (tools: readonly Tool[], { function: { name, arguments: sentText } }: ToolCall, signal: AbortSignal) => {
  const tool = tools.find((one) => one.name === name);
  if (!tool) return failed(ASSISTANT_ANSWERS.noTool(shownName(name), tools.map((one) => one.name).join(", ")));
  const value = parsed(sentText);
  if (!isRecord(value)) return failed(ASSISTANT_ANSWERS.noObject);
  const problems = tool.problemsOf(value);
  if (problems.length > 0) return failed(problems.join("; "));
  try {
    const answer = await tool.call(sentText === "" ? "{}" : sentText, signal);
    if (answer.text.length <= MAX_ANSWER_CHARS) return answer;
    return { ...answer, text: `${answer.text.slice(0, MAX_ANSWER_CHARS)}${ASSISTANT_ANSWERS.cut(MAX_ANSWER_CHARS)}` };
  } catch (error) {
    if (error instanceof CeilingReached || signal.aborted) throw error;
    return failed(messageOf(error));
  }
};

/** Counts failures; a call that keeps failing ends the request. */
const createFailures = (most: number) => {
  const byCall = new Map<string, number>();
  let inRow = 0;
  return {
    /** @returns true if there were too many */
    note: ({ function: { name, arguments: sentText } }: ToolCall, { isError = false }: ToolAnswer): boolean => {
      inRow = isError ? inRow + 1 : 0;
      if (!isError) return false;
      const key = JSON.stringify([name, sentText]);
      byCall.set(key, (byCall.get(key) ?? 0) + 1);
      return byCall.get(key)! >= most || inRow >= most * 2;
    },
  };
};

const sizeOf = (steps: readonly Turn[]): number =>
  steps.reduce((sum, { content, tool_calls: calls = [] }) => sum + content.length + JSON.stringify(calls).length, 0);

const converse = async ({ tools, ask, onText, onCall }: Request, bounds: Bounds, signal: AbortSignal): Promise<Ending> => {
  const steps: Turn[] = [];
  const failures = createFailures(bounds.failures);
  let callCount = 0;
  for (let turn = 1; turn <= bounds.turns; turn += 1) {
    if (sizeOf(steps) > bounds.characters) return { kind: "characters" };
    signal.throwIfAborted();
    const { text, calls } = await ask(steps, signal);
    signal.throwIfAborted();
    if (calls.length === 0) return text.trim() === "" ? { kind: "silent" } : { kind: "answered", text };
    if (text.trim() !== "") onText?.(text);
    steps.push({ role: "assistant", content: text, tool_calls: calls });
    for (const call of calls) {
      callCount += 1;
      if (callCount > bounds.calls) return { kind: "calls" };
      const answer = await answerTo(tools, call, signal);
      signal.throwIfAborted();
      onCall?.(call.function.name, answer);
      if (failures.note(call, answer)) return { kind: "failures", message: answer.text };
      steps.push({ role: "tool", tool_call_id: call.id, content: answer.text });
    }
  }
  return { kind: "turns" };
};

/** Carries out a request. It always ends: by an answer, a bound, the deadline, the ceiling, an error or the user. */
export const runRequest = async (request: Request): Promise<Ending> => {
  const { signal, bounds = BOUNDS } = request;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), bounds.ms);
  try {
    return await converse(request, bounds, AbortSignal.any([signal, deadline.signal]));
  } catch (error) {
    if (signal.aborted) return { kind: "cancelled" };
    if (deadline.signal.aborted) return { kind: "deadline" };
    if (error instanceof CeilingReached) return { kind: "ceiling", message: error.message };
    return { kind: "failed", message: messageOf(error) };
  } finally {
    clearTimeout(timer);
  }
};
