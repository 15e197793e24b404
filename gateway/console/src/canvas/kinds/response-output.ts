import { FileOutput } from "lucide-react";
import { type Look } from "./look";

export const responseOutput: Look = {
  type: "response-output",
  title: "Results",
  group: "Start and end",
  icon: FileOutput,
  id: "output",
  words: "response output result end return save preview respond to webhook image video audio",
  description: "What a run gives back",
};
