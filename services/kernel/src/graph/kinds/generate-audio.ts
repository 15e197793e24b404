import { generator } from "./generator";

export const generateAudio = generator("generate-audio", "audio", "Makes music, sounds or speech with a registered model.");
