import { createClipTokens } from "../src/engines/diffusion/clip-tokens";
import { estimate, guidanceWaves, noised, noiseFrom, timestepsOf } from "../src/engines/diffusion/consistency";

describe("the sampling of images", () => {
  it("takes the timesteps that models of latent consistency were trained for", () => {
    expect(timestepsOf(4)).toEqual([999, 759, 499, 259]);
    expect(timestepsOf(1)).toEqual([999]);
    expect(timestepsOf(8)).toHaveLength(8);
  });

  it("draws the same noise for the same seed, and other noise for another", () => {
    const noise = noiseFrom(7)(10_000);
    expect(noiseFrom(7)(10_000)).toEqual(noise);
    expect(noiseFrom(8)(10_000)).not.toEqual(noise);
    const mean = noise.reduce((sum, value) => sum + value, 0) / noise.length;
    const variance = noise.reduce((sum, value) => sum + (value - mean) ** 2, 0) / noise.length;
    expect(Math.abs(mean)).toBeLessThan(0.03);
    expect(Math.abs(variance - 1)).toBeLessThan(0.05);
  });

  it("recovers an image from its noise", () => {
    const [image, noise] = [Float32Array.of(0.5, -1, 0), Float32Array.of(1, 0.2, -0.4)];
    const recovered = estimate(noised(image, noise, 499), noise, 499);
    recovered.forEach((value, index) => expect(value).toBeCloseTo(image[index]!, 4));
  });

  it("states the strength of the prompt as diffusers does", () => {
    // get_guidance_scale_embedding(7.5, embedding_dim=4) of diffusers' LatentConsistencyModelPipeline
    const expected = [Math.sin(7_500), Math.sin(0.75), Math.cos(7_500), Math.cos(0.75)];
    guidanceWaves(8.5, 4).forEach((value, index) => expect(value).toBeCloseTo(expected[index]!, 4));
  });
});

describe("the tokens of a prompt", () => {
  const symbols = ["l", "o", "w", "!", "l</w>", "o</w>", "w</w>", "!</w>", "lo", "low</w>", "lo</w>", "ð", "Ł", "¦", "Ĭ</w>"];
  const vocabulary = Object.fromEntries([...symbols, "<|startoftext|>", "<|endoftext|>"].map((piece, id) => [piece, id]));
  const [begin, end] = [symbols.length, symbols.length + 1];
  const tokens = createClipTokens(vocabulary, "#version: 0.2\nl o\nlo w</w>\nl o</w>\n", 8);
  const idsOf = (...pieces: string[]): number[] => pieces.map((piece) => vocabulary[piece]!);

  it("are pieces of its words, merged in the order of the table, and filled up to the length", () => {
    expect(tokens("LOW  lo!")).toEqual([begin, ...idsOf("low</w>", "lo</w>", "!</w>"), end, end, end, end]);
    expect(tokens("")).toEqual([begin, ...Array<number>(7).fill(end)]);
  });

  it("are cut after the length", () => {
    expect(tokens("low ".repeat(1_000))).toEqual([begin, ...Array<number>(6).fill(vocabulary["low</w>"]!), end]);
  });

  it("are the bytes of signs that the table doesn't have", () => {
    expect(tokens("🦊")).toEqual([begin, ...idsOf("ð", "Ł", "¦", "Ĭ</w>"), end, end, end]);
  });
});
