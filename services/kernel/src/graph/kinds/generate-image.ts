import { generator } from "./generator";

export const generateImage = generator("image", "Makes images with a registered model.");
