import { MessageSquareText } from "lucide-react";
import { modelAndPrompt, type Look } from "./look";

export const llmAssistant: Look = {
  type: "llm-assistant",
  title: "Assistant",
  group: "Text",
  icon: MessageSquareText,
  id: "assistant",
  words: "llm language model chat gpt assistant write agent ai translate summarize caption",
  description: "A language model writes",
  data: { prompt: "" },
  summary: modelAndPrompt,
};
