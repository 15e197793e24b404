import { TextCursorInput } from "lucide-react";
import { fieldsOf } from "@nodeloom/kernel/graph";
import { type Look } from "./look";
import { COMMON } from "../../messages/common";
import { REQUEST_INPUT } from "../../messages/canvas";

export const requestInput: Look = {
  type: "request-input",
  order: 1,
  title: COMMON.inputs,
  group: "ends",
  icon: TextCursorInput,
  id: "input",
  description: REQUEST_INPUT.summary,
  data: { fields: [{ name: "prompt", type: "textarea", label: REQUEST_INPUT.prompt }], values: {} },
  summary: (data) =>
    fieldsOf(data)
      .map(({ label }) => label)
      .join(", ") || REQUEST_INPUT.noInputsYet,
  form: "fields",
};
