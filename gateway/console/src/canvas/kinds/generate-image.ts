import { Image } from "lucide-react";
import { generator, type Look } from "./look";

export const generateImage: Look = generator(
  "generate-image",
  "Image",
  "image",
  Image,
  "Makes pictures with a model",
  "generate text to image picture photo draw edit upscale ksampler sampler diffusion img2img txt2img checkpoint inpaint",
);
