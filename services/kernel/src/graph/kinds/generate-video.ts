import { generator } from "./generator";

export const generateVideo = generator("video", "Makes videos with a registered model.");
