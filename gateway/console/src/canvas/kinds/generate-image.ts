import { Image } from "lucide-react";
import { generator, type Look } from "./look";
import { GENERATE_IMAGE } from "../../messages/canvas";

export const generateImage: Look = generator("generate-image", 5, GENERATE_IMAGE.image, "image", Image, GENERATE_IMAGE.summary);
