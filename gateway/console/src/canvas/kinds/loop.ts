import { Repeat } from "lucide-react";
import { textOf, type Look } from "./look";
import { COMMON } from "../../messages/common";
import { LOOP } from "../../messages/canvas";

const NEW_TURNS = 3;

export const loop: Look = {
  type: "loop",
  order: 17,
  title: LOOP.loop,
  group: "data",
  icon: Repeat,
  id: "loop",
  description: LOOP.summary,
  data: { slug: "", count: NEW_TURNS },
  summary: ({ slug, count, until }) => {
    const turns = typeof count === "number" ? LOOP.turns(count) : "";
    const end = textOf(until) === "" ? turns : [turns, LOOP.until(textOf(until))].filter(Boolean).join(", ");
    return [textOf(slug) || COMMON.chooseWorkflow, end].filter(Boolean).join("\n");
  },
  form: "loop",
};
