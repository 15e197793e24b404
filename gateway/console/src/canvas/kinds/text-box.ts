import { SquarePen } from "lucide-react";
import { textOf, type Look } from "./look";

export const textBox: Look = {
  type: "text-box",
  title: "Text",
  group: "Text",
  icon: SquarePen,
  id: "text",
  words:
    "template, prompt, string, join text, concat text, clip text encode, cliptextencode, positive prompt, negative prompt, negative, set, edit fields, string multiline, primitive string, string concatenate, variables, text multiline, constant, concatenate strings",
  description: "Text with {{placeholders}} that become ports",
  data: { text: "" },
  fedBy: (port) => ({ text: `{{${port}}}` }),
  summary: (data) => textOf(data.text) || "Empty text",
  writes: { setting: "text", label: "Text", placeholder: "Write a text; {{name}} becomes a port", lines: 3 },
  form: "text",
};
