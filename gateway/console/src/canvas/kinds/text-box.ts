import { SquarePen } from "lucide-react";
import { textOf, type Look } from "./look";
import { COMMON } from "../../messages/common";
import { TEXT_BOX } from "../../messages/canvas";

export const textBox: Look = {
  type: "text-box",
  order: 3,
  title: COMMON.text,
  group: "text",
  icon: SquarePen,
  id: "text",
  description: TEXT_BOX.summary,
  data: { text: "" },
  fedBy: (port) => ({ text: `{{${port}}}` }),
  summary: (data) => textOf(data.text) || TEXT_BOX.emptyText,
  writes: { setting: "text", label: COMMON.text, placeholder: TEXT_BOX.placeholder, lines: 3 },
  form: "text",
};
