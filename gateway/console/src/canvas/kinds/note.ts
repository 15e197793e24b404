import { StickyNote } from "lucide-react";
import { type Look } from "./look";
import { NOTE } from "../../messages/canvas";

export const note: Look = {
  type: "note",
  order: 18,
  title: NOTE.note,
  group: "notes",
  icon: StickyNote,
  id: "note",
  description: NOTE.summary,
  data: { text: "" },
};
