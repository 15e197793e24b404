import { Film } from "lucide-react";
import { generator, type Look } from "./look";
import { GENERATE_VIDEO } from "../../messages/canvas";

export const generateVideo: Look = generator(
  "generate-video",
  6,
  GENERATE_VIDEO.video,
  "video",
  Film,
  GENERATE_VIDEO.summary,
  "generate video, text to video, image to video, t2v, i2v, movie, film, animate, clip, svd, animatediff, wan, ltx, hunyuan, sora, veo, kling, runway, make video, create video clip, video generation, animate image",
);
