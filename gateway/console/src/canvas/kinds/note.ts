import { StickyNote } from "lucide-react";
import { type Look } from "./look";
import { NOTE } from "../../messages/canvas";

export const note: Look = {
  type: "note",
  title: NOTE.note,
  group: "notes",
  icon: StickyNote,
  id: "note",
  words: NOTE.commentStickyStickyNoteRemark,
  description: NOTE.aCommentForPeopleIt,
  data: { text: "" },
};
