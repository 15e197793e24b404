import { Scissors } from "lucide-react";
import { mediaOperation } from "@nodeloom/kernel/graph";
import { type Look } from "./look";
import { MEDIA } from "../../messages/canvas";

export const media: Look = {
  type: "media",
  order: 15,
  title: MEDIA.fileOperation,
  group: "data",
  icon: Scissors,
  id: "operation",
  description: MEDIA.summary,
  data: { operation: "image-resize" },
  summary: ({ operation }) => mediaOperation(operation)?.title ?? MEDIA.chooseAnOperation,
};
