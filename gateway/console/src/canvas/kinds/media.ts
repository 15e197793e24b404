import { Scissors } from "lucide-react";
import { mediaOperation } from "@nodeloom/kernel/graph";
import { type Look } from "./look";

export const media: Look = {
  type: "media",
  title: "File operation",
  group: "Data",
  icon: Scissors,
  id: "operation",
  words: "operation, ffmpeg, process file",
  description: "Works on images, videos and sounds",
  data: { operation: "image-resize" },
  summary: ({ operation }) => mediaOperation(operation)?.title ?? "Choose an operation",
};
