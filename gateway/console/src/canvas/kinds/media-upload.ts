import { FileUp } from "lucide-react";
import { type Look } from "./look";
import { COMMON } from "../../messages/common";
import { MEDIA_UPLOAD } from "../../messages/canvas";

export const mediaUpload: Look = {
  type: "media-upload",
  order: 9,
  title: COMMON.file,
  group: "data",
  icon: FileUp,
  id: "file",
  description: MEDIA_UPLOAD.summary,
  form: "file",
  givesLists: ({ multiple }) => multiple === true,
};
