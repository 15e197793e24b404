import { earlierTurns, otherInputs, type Asked, type ChatSettings } from "../../chat/asked";
import { promptFiles, type PromptFile } from "../../chat/files";
import { repairTurns, systemPrompt } from "../../chat/structured";
import { ProviderError } from "../../dialect";
import type { JsonCall } from "../../transport";
import { answerForm, type AnswerForm } from "./answer-form";

/** The request of Anthropic's Messages API. */

const VERSION = "2023-06-01";
/** The API wants to be told; of entries without such an input. */
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

/** A request of the Messages API. */
export const messagesCall = (settings: ChatSettings, asked: Asked): JsonCall => {
  const { baseUrl, model, parameters = {} } = settings;
  const { prompt, maxTokens = USUAL_MAX_TOKENS } = asked.inputs;
  const { names, files } = promptFiles(settings, asked.inputs);
  const form = answerForm(settings, asked);
  const system = systemPrompt(asked, form?.by === "words");
  return {
    method: "POST",
    url: `${baseUrl}/messages`,
    headers: { "anthropic-version": VERSION },
    body: {
      ...otherInputs(asked, names),
      ...parameters,
      model,
      max_tokens: maxTokens,
      ...(system === undefined ? {} : { system }),
      messages: [
        ...earlierTurns(asked),
        // Files go first, as the API's makers advise.
        { role: "user", content: files.length > 0 ? [...files.map(block), { type: "text", text: prompt }] : prompt },
        ...repairTurns(asked).map(({ role, text }) => ({ role, content: text })),
      ],
      ...answerMembers(form),
    },
  };
};
