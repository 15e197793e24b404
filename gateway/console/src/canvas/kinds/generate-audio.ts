import { AudioLines } from "lucide-react";
import { generator, type Look } from "./look";
import { GENERATE_AUDIO } from "../../messages/canvas";

export const generateAudio: Look = generator("generate-audio", 7, GENERATE_AUDIO.audio, "audio", AudioLines, GENERATE_AUDIO.summary);
