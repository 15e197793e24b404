/** A wheel with both English lexicons and the model for the American voice. */
export const HIBARI = {
  kind: "wheel",
  package: "hibari-tts",
  version: "0.2.1",
  sha256: "49f2abbbe451c988e7448b5afa08c8a56410535ebb855c0e7d174275df5ca1f3",
  bytes: 14_032_178,
  diskBytes: 40_000_000,
} as const;
