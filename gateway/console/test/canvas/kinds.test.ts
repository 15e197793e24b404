import { MEDIA_OPERATIONS, NODE_KINDS, type NodeKind } from "@nodeloom/kernel";
import { CHOICES, KINDS, kindFrom, kindOf, previewOf } from "../../src/canvas/kinds";
import { LOOKS } from "../../src/canvas/kinds/looks";

/** A kind of a later kernel version. */
const later = {
  ...NODE_KINDS["http-request"],
  type: "blur-image",
  summary: "Blurs an image.",
  calls: null,
  settings: { radius: { type: "integer", default: 4 }, mode: { type: "string" }, name: { type: "string" } },
} as unknown as NodeKind;

describe("the kinds of the canvas", () => {
  it("are those of the kernel's table, each once, and no other", () => {
    expect(KINDS.map(({ type }) => type).sort()).toEqual(Object.keys(NODE_KINDS).sort());
    expect(LOOKS.filter(({ type }) => !(type in NODE_KINDS))).toEqual([]);
  });

  it("need nothing of the console to be chosen, added and read", () => {
    const kind = kindFrom(later);
    expect(kind).toMatchObject({ title: "Blur image", description: "Blurs an image.", group: "data", id: "blur-image", runs: true });
    expect(kind.data()).toEqual({ radius: 4 });
    expect(kind.summary({ mode: "soft", radius: 4, name: "first" })).toBe("soft\nfirst");
    expect(kind.summary({})).toBe("Blurs an image.");
  });

  it("give every new node data of its own", () => {
    for (const kind of KINDS) expect(kind.data()).not.toBe(kind.data());
  });

  it("show what their outputs carry", () => {
    expect(KINDS.filter(({ type }) => previewOf(type) === "picture").map(({ id }) => id)).toEqual([
      "output",
      "image",
      "video",
      "model3d",
      "file",
      "operation",
    ]);
    expect(KINDS.filter(({ type }) => previewOf(type) === "sound").map(({ id }) => id)).toEqual(["audio"]);
  });

  it("offer each operation on files as a choice of its own", () => {
    const added = CHOICES.map((choice) => choice.data().operation).filter((operation) => operation !== undefined);
    expect(added).toEqual(MEDIA_OPERATIONS.map(({ name }) => name));
    expect(new Set(CHOICES.map(({ title }) => title)).size).toBe(CHOICES.length);
  });

  it("keep kinds of tomorrow under their own name", () => {
    expect(kindOf("from-tomorrow")).toMatchObject({ title: "from-tomorrow", rules: undefined, runs: true });
  });
});
