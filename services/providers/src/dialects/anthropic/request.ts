import { earlierTurns, laterTurns, otherInputs, type ChatCall, type ChatSettings, type Turn } from "../../chat/chat-call";
import { promptFiles, type PromptFile } from "../../chat/files";
import { repairTurns, systemPrompt } from "../../chat/structured";
import { argumentsOf, TOOL_INPUTS, toolChoiceOf, toolsOf, type ToolChoice } from "../../tools";
import { ProviderError } from "../../dialect";
import type { JsonCall } from "../../transport";
import { answerForm, type AnswerForm } from "./answer-form";

/** Builds requests of Anthropic's Messages API. */

const VERSION = "2023-06-01";
/** Default for entries without this input, because the API requires a value. */
const USUAL_MAX_TOKENS = 4_096;
const TOOL = "answer";

const block = ({ kind, url, inline }: PromptFile): object => {
  if (kind !== "image" && kind !== "document") throw new ProviderError("refused", `this provider takes no ${kind}`);
  const source = inline ? { type: "base64", media_type: inline.contentType, data: inline.base64 } : { type: "url", url };
  return { type: kind, source };
};

const answerMembers = (form: AnswerForm | undefined): Record<string, unknown> => {
  if (form?.by === "mode") return { output_config: { format: { type: "json_schema", schema: form.schema } } };
  if (form?.by !== "tool") return {};
  return {
    tools: [{ name: TOOL, description: "Gives the answer.", input_schema: form.schema }],
    tool_choice: { type: "tool", name: TOOL },
  };
};

const textBlocks = (text: string): object[] => (text === "" ? [] : [{ type: "text", text }]);

/** Converts turns to the API's form. Tool results belong to a user turn, and consecutive results share one turn. */
const messagesOf = (turns: readonly Turn[]): { role: string; content: string | object[] }[] => {
  const messages: { role: string; content: string | object[] }[] = [];
  let results: object[] | undefined;
  for (const { role, content, tool_calls: calls = [], tool_call_id: id } of turns) {
    if (role === "tool") {
      if (!results) messages.push({ role: "user", content: (results = []) });
      results.push({ type: "tool_result", tool_use_id: id, ...(content === "" ? {} : { content }) });
      continue;
    }
    results = undefined;
    const used = calls.map((call) => ({ type: "tool_use", id: call.id, name: call.function.name, input: argumentsOf(call) }));
    messages.push({ role, content: used.length > 0 ? [...textBlocks(content), ...used] : content });
  }
  return messages;
};

const CHOICES = { auto: { type: "auto" }, none: { type: "none" }, required: { type: "any" } } as const;

const choiceOf = (choice: ToolChoice): object => (typeof choice === "string" ? CHOICES[choice] : { type: "tool", name: choice.name });

const toolMembers = (question: ChatCall): Record<string, unknown> => {
  const tools = toolsOf(question);
  if (tools.length === 0) return {};
  const choice = toolChoiceOf(question);
  const isOneByOne = question.inputs.parallel_tool_calls === false;
  return {
    tools: tools.map(({ parameters = { type: "object" }, ...tool }) => ({ ...tool, input_schema: { type: "object", ...parameters } })),
    ...(choice !== undefined || isOneByOne
      ? { tool_choice: { ...choiceOf(choice ?? "auto"), ...(isOneByOne && choice !== "none" ? { disable_parallel_tool_use: true } : {}) } }
      : {}),
  };
};

/** Builds a request of the Messages API. */
export const messagesCall = (settings: ChatSettings, question: ChatCall): JsonCall => {
  const { baseUrl, model, parameters = {} } = settings;
  const { prompt, maxTokens = USUAL_MAX_TOKENS } = question.inputs;
  const { names, files } = promptFiles(settings, question.inputs);
  const form = answerForm(settings, question);
  const system = systemPrompt(question, form?.by === "words");
  return {
    method: "POST",
    url: `${baseUrl}/messages`,
    headers: { "anthropic-version": VERSION },
    body: {
      ...otherInputs(question, [...names, ...TOOL_INPUTS]),
      ...parameters,
      model,
      max_tokens: maxTokens,
      ...(system === undefined ? {} : { system }),
      messages: [
        ...messagesOf(earlierTurns(question)),
        // Files come first, as Anthropic recommends.
        { role: "user", content: files.length > 0 ? [...files.map(block), { type: "text", text: prompt }] : prompt },
        ...messagesOf(laterTurns(question)),
        ...repairTurns(question).map(({ role, text }) => ({ role, content: text })),
      ],
      ...toolMembers(question),
      ...answerMembers(form),
    },
  };
};
