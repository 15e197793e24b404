import { generator } from "./generator";

export const generateVideo = generator("generate-video", "video", "Makes videos with a registered model.");
