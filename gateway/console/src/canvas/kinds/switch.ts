import { Split } from "lucide-react";
import { textOf, type Look } from "./look";
import { SWITCH } from "../../messages/canvas";

export const switchKind: Look = {
  type: "switch",
  order: 13,
  title: SWITCH.switch,
  group: "data",
  icon: Split,
  id: "switch",
  description: SWITCH.summary,
  data: { cases: [{ name: "yes", left: "{{value}}", op: "exists" }] },
  summary: ({ cases }) =>
    [...(Array.isArray(cases) ? cases : []).map((one: { name?: unknown } | null) => textOf(one?.name)), "else"].filter(Boolean).join(" · "),
  form: "cases",
};
