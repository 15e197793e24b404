import { anchorBeside, anchorNear, boxOf, isSimple, laidOut, letteringOf, sizeAfter, type Font } from "../../src/editor/touch/lettering";

/** A font whose letters are ten pixels wide, with a pixel of air on the left, eight high. */
const FONT: Font = {
  advance: (letter, next) => (letter === "A" && next === "V" ? 8 : 10),
  ink: () => ({ left: -1, right: 10, ascent: 8, descent: 0 }),
  lineHeight: 14,
};
const LETTERING = { line: 10, spacing: 2, margin: 0, padding: 4, widest: 60 };
const linesIn = (text: string): string[] => {
  const lines = new Map<number, string>();
  for (const { letter, y } of laidOut(text, LETTERING, "left", FONT)!.marks) lines.set(y, (lines.get(y) ?? "") + letter);
  return [...lines.values()];
};

describe("a text on a picture", () => {
  it("breaks between words, inside a word that is too long, and where its author did", () => {
    expect(linesIn("one two three")).toEqual(["one", "two", "three"]);
    expect(linesIn("a bc de")).toEqual(["abc", "de"]);
    expect(linesIn("abcdefghij")).toEqual(["abcdef", "ghij"]);
    expect(linesIn("a\nb")).toEqual(["a", "b"]);
    expect(linesIn("half-time")).toEqual(["half-", "time"]);
  });

  it("is as large as its ink, with kerning and the distance of its lines", () => {
    expect(laidOut("AV", LETTERING, "left", FONT)).toMatchObject({ width: 17, height: 8 });
    expect(laidOut("a\nb", LETTERING, "left", FONT)).toMatchObject({ width: 9, height: 24 });
    expect(laidOut(" \n ", LETTERING, "left", FONT)).toBeUndefined();
  });

  it("is aligned by its lines without spaces at their ends", () => {
    const starts = (align: string): number[] =>
      laidOut("abcd ef", LETTERING, align, FONT)!
        .marks.filter(({ letter }) => "ae".includes(letter))
        .map(({ x }) => x);
    expect(starts("left")).toEqual([-1, -1]);
    expect(starts("right")).toEqual([-1, 19]);
    expect(starts("centre")).toEqual([-1, 9]);
  });

  it("has a box at its anchor, unless the operation rejects it", () => {
    const image = { width: 400, height: 200 };
    const lettering = letteringOf({ size: 0.1, margin: 0.05 }, image);
    expect(lettering).toEqual({ line: 20, spacing: 3, margin: 10, padding: 7, widest: 366 });
    expect(boxOf({ width: 100, height: 20 }, image, lettering, "bottom-right")).toEqual({ width: 114, height: 34, left: 276, top: 156 });
    expect(boxOf({ width: 100, height: 190 }, image, lettering, "top")).toBe("long");
    expect(boxOf({ width: 5, height: 5 }, image, { ...lettering, widest: 19 }, "top")).toBe("narrow");
  });

  it("moves to the nearest anchor, or by keys to the one beside", () => {
    const image = { width: 400, height: 200 };
    expect(anchorNear({ left: 290, top: 5, width: 100, height: 30 }, image, 10)).toBe("top-right");
    expect(anchorNear({ left: 140, top: 90, width: 100, height: 30 }, image, 10)).toBe("centre");
    expect(anchorBeside("bottom", { x: -1, y: 0 })).toBe("bottom-left");
    expect(anchorBeside("bottom-left", { x: -1, y: -10 })).toBe("left");
    expect(anchorBeside("left", { x: 1, y: 0 })).toBe("centre");
  });

  it("grows with its box, between the sizes that the operation allows", () => {
    expect(sizeAfter(0.1, 50, 75)).toBe(0.15);
    expect(sizeAfter(0.4, 50, 500)).toBe(0.5);
    expect(sizeAfter(0.1, 500, 1)).toBe(0.01);
  });

  it("is said to be approximate for scripts that join letters or need other fonts", () => {
    expect(["Où? 5 €", "Αθήνα", "Заря"].every(isSimple)).toBe(true);
    expect(["سلام", "日本", "हिन्दी", "🌊"].some(isSimple)).toBe(false);
  });
});
