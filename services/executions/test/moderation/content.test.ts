import { contentIn, partsOf, PART, textsOf } from "../../src/moderation/content";

const OWN = "http://public.test/media/";
const files = (count: number) => Array.from({ length: count }, (_, n) => ({ url: `${OWN}${n}.png`, contentType: null, sha256: null }));

describe("the shown content of values", () => {
  it("is every text once, at any depth, and files by their addresses", () => {
    const value = {
      prompt: "a loom",
      list: ["a loom", { note: "it weaves" }, 7, null, " "],
      image: `${OWN}0123456789abcdef0123456789abcdef.png`,
      clip: { url: "https://elsewhere.test/a.mp4", contentType: "video/mp4" },
      data: "data:image/png;base64,AAAA",
    };
    const { texts, addresses } = contentIn(value, OWN);
    expect(texts).toEqual(["a loom", "it weaves"]);
    expect([...addresses]).toEqual([
      [`${OWN}0123456789abcdef0123456789abcdef.png`, null],
      ["https://elsewhere.test/a.mp4", "video/mp4"],
    ]);
  });

  it("includes a single word, even one that looks like an ID", () => {
    expect(contentIn({ prompt: "blood" }, OWN).texts).toEqual(["blood"]);
  });

  it("is a foreign address as its text", () => {
    expect(contentIn("https://elsewhere.test/a.png", OWN).texts).toEqual(["https://elsewhere.test/a.png"]);
  });

  it("is JSON if a call returned no text", () => {
    expect(textsOf({ status: 200, body: { say: ["hello"] } })).toEqual(['{"say":["hello"]}']);
    expect(textsOf({ text: "[1]", json: [1] })).toEqual(["[1]"]);
    expect(textsOf({ status: 204, body: "" })).toEqual([]);
  });
});

describe("requests to the hook", () => {
  it("include everything, within their limits", () => {
    const texts = Array.from({ length: PART.texts + 1 }, (_, n) => `text ${n}`);
    const parts = partsOf({ texts, files: files(PART.files + 1) });
    expect(parts.flatMap((part) => part.texts)).toEqual(texts);
    expect(parts.flatMap((part) => part.files)).toHaveLength(PART.files + 1);
    for (const part of parts) expect([part.texts.length <= PART.texts, part.files.length <= PART.files]).toEqual([true, true]);
  });

  it("split a long text so that every word is complete in one of the pieces", () => {
    const words = Array.from({ length: PART.characters / 4 }, (_, n) => `word${n}`);
    const parts = partsOf({ texts: [words.join(" ")], files: [] });
    expect(parts.length).toBeGreaterThan(1);
    const pieces = parts.flatMap((part) => part.texts);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(PART.characters);
    const whole = new Set(pieces.flatMap((piece) => piece.split(" ")));
    expect(words.filter((word) => !whole.has(word))).toEqual([]);
  });

  it("are not sent if there is nothing to check", () => {
    expect(partsOf({ texts: [], files: [] })).toEqual([]);
  });
});
