import { List } from "lucide-react";
import { type Look } from "./look";
import { COMMON } from "../../messages/common";
import { LIST } from "../../messages/canvas";

export const list: Look = {
  type: "list",
  order: 10,
  title: LIST.list,
  group: "data",
  icon: List,
  id: "list",
  description: LIST.summary,
  data: { items: [] },
  summary: ({ items }) => (Array.isArray(items) && items.length > 0 ? items.map(String).join(" · ") : LIST.emptyList),
  writes: { setting: "items", label: COMMON.items, placeholder: LIST.oneItemPerLine, lines: 3, isList: true },
  givesLists: () => true,
  form: "list",
};
