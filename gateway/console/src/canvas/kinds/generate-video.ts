import { Film } from "lucide-react";
import { generator, type Look } from "./look";

export const generateVideo: Look = generator(
  "generate-video",
  "Video",
  "video",
  Film,
  "Makes a clip with a model",
  "generate video, text to video, image to video, t2v, i2v, movie, film, animate, clip, svd, animatediff, wan, ltx, hunyuan, sora, veo, kling, runway, make video, create video clip, video generation, animate image",
);
