import { generator } from "./generator";

export const generateImage = generator("generate-image", "image", "Makes images with a registered model.");
