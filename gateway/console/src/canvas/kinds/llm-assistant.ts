import { MessageSquareText } from "lucide-react";
import { modelAndPrompt, type Look } from "./look";
import { LLM_ASSISTANT } from "../../messages/canvas";

export const llmAssistant: Look = {
  type: "llm-assistant",
  order: 4,
  title: LLM_ASSISTANT.assistant,
  group: "text",
  icon: MessageSquareText,
  id: "assistant",
  description: LLM_ASSISTANT.summary,
  // Limits the price of a text whose length only the run determines.
  data: { prompt: "", maxInputChars: 20_000 },
  summary: modelAndPrompt,
};
