import { SquarePen } from "lucide-react";
import { textOf, type Look } from "./look";

export const textBox: Look = {
  type: "text-box",
  title: "Text",
  group: "Text",
  icon: SquarePen,
  id: "text",
  words: "text box template prompt string join merge concat combine clip text encode positive negative set edit fields",
  description: "Text with {{placeholders}} that become ports",
  data: { text: "" },
  fedBy: (port) => ({ text: `{{${port}}}` }),
  summary: (data) => textOf(data.text) || "Empty text",
  writes: { setting: "text", label: "Text", placeholder: "Write a text; {{name}} becomes a port", lines: 3 },
  form: "text",
};
