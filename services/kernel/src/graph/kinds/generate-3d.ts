import { generator } from "./generator";

export const generate3d = generator("generate-3d", "model3d", "Makes 3D models with a registered model.");
