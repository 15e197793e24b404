import { FileOutput } from "lucide-react";
import { type Look } from "./look";

export const responseOutput: Look = {
  type: "response-output",
  title: "Results",
  group: "Start and end",
  icon: FileOutput,
  id: "output",
  words:
    "response, output, result, end, return, save, preview, save image, preview image, save video, save audio, respond to webhook, respond, preview any, show image, display, finish, download, vhs video combine",
  description: "What a run gives back",
};
