import fc from "fast-check";
import { mediaOperation, missingGroups, operationIssues } from "@nodeloom/kernel/graph";
import { type Cue } from "@nodeloom/kernel/captions";
import { cueChanges, cuesAt, cuesIn, isOwn, withMoved, withNewCue } from "../../src/editor/touch/clip/cues";
import { stacked, wrapped } from "../../src/editor/touch/clip/cue-layout";
import { arrowSeconds, LEAST_SECONDS, moved, trimChanges, trimmingOf, type Edge, type Hold } from "../../src/editor/touch/clip/times";

const WHOLE = 10.37;
const VIDEO_TRIM = mediaOperation("video-trim")!;
const CAPTIONS = mediaOperation("video-captions")!;
const withoutEmpty = (settings: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
const times = fc.double({ min: -5, max: 20, noNaN: true });

describe("a trim on the timeline", () => {
  it("keeps the part that the operation keeps, with a length before an end", () => {
    expect(trimmingOf({}, WHOLE)).toEqual({ start: 0, end: WHOLE, problem: undefined });
    expect(trimmingOf({ start: 2, end: 99 }, WHOLE)).toEqual({ start: 2, end: WHOLE, problem: undefined });
    expect(trimmingOf({ start: 2, end: 9, seconds: 3 }, WHOLE)).toEqual({ start: 2, end: 5, problem: undefined });
    expect(trimmingOf({ start: 12 }, WHOLE).problem).toBe("late");
    expect(trimmingOf({ start: 4, end: 3 }, WHOLE).problem).toBe("empty");
  });

  it("writes settings that the operation accepts and that mean the same part, wherever the handles are dragged", () => {
    const drags = fc.array(fc.tuple(fc.constantFrom<Edge>("start", "end"), times), { maxLength: 8 });
    fc.assert(
      fc.property(fc.constantFrom({}, { seconds: 3 }, { start: 1, end: 4 }), drags, (stored, all) => {
        let settings: Record<string, unknown> = stored;
        for (const [edge, to] of all) {
          const range = moved(trimmingOf(settings, WHOLE), edge, to, { start: 0, end: WHOLE });
          settings = withoutEmpty({ ...settings, ...trimChanges(range, settings, WHOLE) });
          const read = trimmingOf(settings, WHOLE);
          expect(read.problem).toBeUndefined();
          expect(Math.abs(read.start - range.start)).toBeLessThan(0.011);
          expect(Math.abs(read.end - range.end)).toBeLessThan(0.011);
          expect(read.end - read.start).toBeGreaterThan(LEAST_SECONDS - 0.001);
          expect(operationIssues(VIDEO_TRIM, { video: "file", ...settings })).toEqual([]);
          expect(missingGroups(VIDEO_TRIM, (name) => settings[name] !== undefined)).toEqual([]);
        }
      }),
    );
  });

  it("stores no end if it reaches the end of the file, and moves by 0.1 or 1 second with the arrow keys", () => {
    const range = moved({ start: 1, end: 9 }, "end", 10.368, { start: 0, end: WHOLE });
    expect(trimChanges(range, {}, WHOLE)).toEqual({ start: 1, end: undefined });
    expect(arrowSeconds({ key: "ArrowLeft", shiftKey: false })).toBe(-0.1);
    expect(arrowSeconds({ key: "ArrowUp", shiftKey: true })).toBe(1);
    expect(arrowSeconds({ key: "a", shiftKey: false })).toBeUndefined();
  });
});

describe("captions on the timeline", () => {
  const CUES: readonly Cue[] = [
    { text: "One", start: 1, end: 2 },
    { text: "Two", start: 2.5, end: 4 },
  ];

  it("are those of the words or the text until one is edited, and then keep exactly their times", () => {
    const words = [
      { text: "Hello", start: 0, end: 0.5 },
      { text: "sea.", start: 0.5, end: 1 },
      { text: "Bye", start: 3, end: 3.5 },
    ];
    const { cues } = cuesIn({ words }, WHOLE);
    expect(cues).toEqual([
      { text: "Hello sea.", start: 0, end: 1.4 },
      { text: "Bye", start: 3, end: 3.9 },
    ]);
    const settings = cueChanges(cues);
    expect(isOwn(settings)).toBe(true);
    expect(cuesIn(settings, WHOLE).cues).toEqual(cues);
    expect(cuesIn({ text: "A short text." }, 4).cues).toEqual([{ text: "A short text.", start: 0, end: 4 }]);
    expect(cuesIn({ words: [{ text: "Hi" }] }, WHOLE)).toEqual({ cues: [], wrong: 0 });
    expect(cuesIn({ words: ["Hi"], grouping: "none" }, WHOLE)).toEqual({ cues: [], wrong: 0 });
  });

  it("stop at their neighbours, however far an edge is dragged, and stay captions that the operation accepts", () => {
    const drags = fc.array(fc.tuple(fc.nat(1), fc.constantFrom<Hold>("start", "end", "move"), times), { maxLength: 10 });
    fc.assert(
      fc.property(drags, (all) => {
        const cues = all.reduce<readonly Cue[]>((list, [index, hold, to]) => withMoved(list, index, hold, to, WHOLE), CUES);
        expect(cues.every(({ start, end }) => start >= 0 && end <= WHOLE && end - start > LEAST_SECONDS - 0.011)).toBe(true);
        expect(cues[0]!.end).toBeLessThanOrEqual(cues[1]!.start + 0.001);
        expect(operationIssues(CAPTIONS, { video: "file", ...withoutEmpty(cueChanges(cues)) })).toEqual([]);
      }),
    );
  });

  it("are added at the playhead, after the caption that is there, as long as there is room", () => {
    expect(withNewCue(CUES, 5, WHOLE, "New")).toMatchObject({ index: 2, cues: [{}, {}, { text: "New", start: 5, end: 7 }] });
    expect(withNewCue(CUES, 1.2, WHOLE, "New")).toMatchObject({ index: 1, cues: [{}, { start: 2, end: 2.5 }, {}] });
    expect(withNewCue(CUES, WHOLE, WHOLE, "New")).toBeUndefined();
    expect(withNewCue([], 0, WHOLE, "New")!.cues).toEqual([{ text: "New", start: 0, end: 2 }]);
  });

  it("are visible from their start until before their end", () => {
    expect([0.99, 1, 1.99, 2].map((time) => cuesAt(CUES, time).length)).toEqual([0, 1, 1, 0]);
  });

  it("are broken where they are too wide, into lines of similar length, and stacked", () => {
    const measure = (text: string): number => text.length;
    expect(wrapped("aaa bbb ccc ddd e", 15, measure)).toEqual(["aaa bbb", "ccc ddd e"]);
    expect(wrapped("one\ntwo", 15, measure)).toEqual(["one", "two"]);
    const style = { line: 10, outline: 1, margin: 5 };
    expect(stacked([["a", "b"]], { height: 100 }, style, "bottom").map(({ top }) => top)).toEqual([75, 85]);
    expect(stacked([["a"], ["b"]], { height: 100 }, style, "bottom").map(({ top }) => top)).toEqual([85, 75]);
    expect(stacked([["a"]], { height: 100 }, style, "centre")).toEqual([{ text: "a", top: 45 }]);
    expect(stacked([["a"]], { height: 100 }, style, "top")).toEqual([{ text: "a", top: 5 }]);
  });
});
