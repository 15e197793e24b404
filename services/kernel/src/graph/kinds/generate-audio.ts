import { generator } from "./generator";

export const generateAudio = generator("audio", "Makes music, sounds or speech with a registered model.");
