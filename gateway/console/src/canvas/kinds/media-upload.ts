import { FileUp } from "lucide-react";
import { type Look } from "./look";

export const mediaUpload: Look = {
  type: "media-upload",
  title: "File",
  group: "Data",
  icon: FileUp,
  id: "file",
  words: "upload load media file image video audio asset",
  description: "A file you upload",
  form: "file",
};
