import { queryWords, searchWords, titleOf } from "../../src";

it("finds words without regard to case, accents and punctuation, each once", () => {
  expect(searchWords("A Café, at night — café!", "local_upscale")).toEqual(["cafe", "at", "night", "local", "upscale"]);
});

it("separates words of languages without spaces", () => {
  expect(searchWords("红色的狐狸")).toContain("狐狸");
});

it("limits the words of long texts", () => {
  const long = Array.from({ length: 500 }, (_, index) => `word${index}`).join(" ");
  expect(searchWords(long)).toHaveLength(64);
  expect(queryWords(long)).toHaveLength(8);
  expect(searchWords("x".repeat(1_000))[0]).toHaveLength(40);
});

it("lets a plural find the singular", () => {
  expect(queryWords("foxes horses glass bus")).toEqual(["fox", "hors", "glas", "bus"]);
});

it("cuts a title between words", () => {
  expect(titleOf("  A red\nfox ")).toBe("A red fox");
  expect(titleOf("snow ".repeat(40))).toBe("snow snow snow snow snow snow snow snow snow snow snow snow");
  expect(titleOf("x".repeat(200))).toHaveLength(60);
});
