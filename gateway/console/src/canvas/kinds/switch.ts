import { Split } from "lucide-react";
import { textOf, type Look } from "./look";

export const switchKind: Look = {
  type: "switch",
  title: "Switch",
  group: "Data",
  icon: Split,
  id: "switch",
  words:
    "if, else, condition, branch, router, route, case, filter, conditional, if else, gate, boolean switch, comfy switch, compare values, merge branches",
  description: "Goes one way or another",
  data: { cases: [{ name: "yes", left: "{{value}}", op: "exists" }] },
  summary: ({ cases }) =>
    [...(Array.isArray(cases) ? cases : []).map((one: { name?: unknown } | null) => textOf(one?.name)), "else"].filter(Boolean).join(" · "),
  form: "cases",
};
