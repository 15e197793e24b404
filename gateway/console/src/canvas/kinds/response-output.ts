import { FileOutput } from "lucide-react";
import { type Look } from "./look";
import { RESPONSE_OUTPUT } from "../../messages/canvas";

export const responseOutput: Look = {
  type: "response-output",
  order: 2,
  title: RESPONSE_OUTPUT.results,
  group: "ends",
  icon: FileOutput,
  id: "output",
  description: RESPONSE_OUTPUT.summary,
};
