import { StickyNote } from "lucide-react";
import { type Look } from "./look";

export const note: Look = {
  type: "note",
  title: "Note",
  group: "Notes",
  icon: StickyNote,
  id: "note",
  words: "comment, sticky, sticky note, remark, annotation, markdown note, markdown, memo, label",
  description: "For people; never runs",
  data: { text: "" },
};
