import { List } from "lucide-react";
import { type Look } from "./look";

export const list: Look = {
  type: "list",
  title: "List",
  group: "Data",
  icon: List,
  id: "list",
  words:
    "items, array, batch, fan out, fanout, loop, for each, foreach, each, iterate, repeat, loop over items, split in batches, split out, many, image batch list, multiple prompts, variations, xy plot",
  description: "Several values: what follows runs once for each",
  data: { items: [] },
  summary: ({ items }) => (Array.isArray(items) && items.length > 0 ? items.map(String).join(" · ") : "Empty list"),
  writes: { setting: "items", label: "Items", placeholder: "One item to a line", lines: 3, isList: true },
  givesLists: true,
  form: "list",
};
