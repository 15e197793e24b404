import { Film } from "lucide-react";
import { generator, type Look } from "./look";

export const generateVideo: Look = generator(
  "generate-video",
  "Video",
  "video",
  Film,
  "Makes a clip with a model",
  "generate text to image to video clip film movie animate",
);
