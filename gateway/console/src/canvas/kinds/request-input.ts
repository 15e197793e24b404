import { TextCursorInput } from "lucide-react";
import { fieldsOf } from "@nodeloom/kernel/graph";
import { type Look } from "./look";

export const requestInput: Look = {
  type: "request-input",
  title: "Inputs",
  group: "Start and end",
  icon: TextCursorInput,
  id: "input",
  words:
    "request, input, form, field, api, start, trigger, manual trigger, manual, webhook, webhook trigger, form trigger, chat trigger, parameter, variable, begin, user input, primitive, on form submission, entry",
  description: "The form and the API's inputs",
  data: { fields: [{ name: "prompt", type: "textarea", label: "Prompt" }], values: {} },
  summary: (data) =>
    fieldsOf(data)
      .map(({ label }) => label)
      .join(", ") || "No inputs yet",
  form: "fields",
};
