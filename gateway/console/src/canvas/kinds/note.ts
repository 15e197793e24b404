import { StickyNote } from "lucide-react";
import { type Look } from "./look";

export const note: Look = {
  type: "note",
  title: "Note",
  group: "Notes",
  icon: StickyNote,
  id: "note",
  words: "note comment sticky group",
  description: "For people; never runs",
  data: { text: "" },
};
