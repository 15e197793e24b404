import { Box } from "lucide-react";
import { generator, type Look } from "./look";
import { GENERATE_3D } from "../../messages/canvas";

export const generate3d: Look = generator("generate-3d", 8, GENERATE_3D.model3d, "model3d", Box, GENERATE_3D.summary);
