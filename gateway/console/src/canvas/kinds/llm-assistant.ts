import { MessageSquareText } from "lucide-react";
import { modelAndPrompt, type Look } from "./look";

export const llmAssistant: Look = {
  type: "llm-assistant",
  title: "Assistant",
  group: "Text",
  icon: MessageSquareText,
  id: "assistant",
  words:
    "llm, language model, chat, gpt, chatgpt, claude, gemini, write, agent, ai agent, ai, translate, summarize, summarise, llm chain, basic llm chain, openai, describe image, prompt enhancer, question, classify, structured output, information extractor, text classifier, rewrite, vision, caption an image, sentiment",
  description: "A language model writes",
  // Bounds the price of a text that only the run knows.
  data: { prompt: "", maxInputChars: 20_000 },
  summary: modelAndPrompt,
};
