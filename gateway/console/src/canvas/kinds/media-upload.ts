import { FileUp } from "lucide-react";
import { type Look } from "./look";

export const mediaUpload: Look = {
  type: "media-upload",
  title: "File",
  group: "Data",
  icon: FileUp,
  id: "file",
  words:
    "upload, load, load image, load video, load audio, load media, import file, asset, image upload, read file, read files, open, my photo, upload photo, vhs load video, attachment, binary file",
  description: "A file you upload",
  form: "file",
};
