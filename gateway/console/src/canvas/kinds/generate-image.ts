import { Image } from "lucide-react";
import { generator, type Look } from "./look";
import { GENERATE_IMAGE } from "../../messages/canvas";

export const generateImage: Look = generator(
  "generate-image",
  5,
  GENERATE_IMAGE.image,
  "image",
  Image,
  GENERATE_IMAGE.summary,
  "generate image, text to image, picture, photo, draw, edit image, image edit, ksampler, sampler, diffusion, stable diffusion, img2img, image to image, txt2img, t2i, inpaint, outpaint, midjourney, sdxl, dall-e, dalle, generate picture, create image, flux, controlnet, load checkpoint, checkpoint, empty latent image, vae decode, lora, lora loader, style transfer, image generation, ipadapter",
);
