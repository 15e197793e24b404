import { Braces } from "lucide-react";
import { textOf, type Look } from "./look";
import { JSON_TEXTS } from "../../messages/canvas";

export const json: Look = {
  type: "json",
  order: 12,
  title: JSON_TEXTS.json,
  group: "data",
  icon: Braces,
  id: "json",
  description: JSON_TEXTS.summary,
  data: { expression: "" },
  summary: (data) => textOf(data.expression) || JSON_TEXTS.theWholeValue,
  writes: { setting: "expression", label: JSON_TEXTS.expression, placeholder: JSON_TEXTS.theWholeValue, lines: 1 },
  form: "expression",
};
