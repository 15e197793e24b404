import { Film } from "lucide-react";
import { generator, type Look } from "./look";
import { GENERATE_VIDEO } from "../../messages/canvas";

export const generateVideo: Look = generator("generate-video", 6, GENERATE_VIDEO.video, "video", Film, GENERATE_VIDEO.summary);
