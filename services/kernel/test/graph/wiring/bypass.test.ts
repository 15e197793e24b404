import { generatorUses, holdItems, modelNames, upToNode } from "@nodeloom/kernel";
import { graphOf, input, issues, OUT, planned, type Edge, type Node } from "../../support";

const off = (node: Node): Node => ({ ...node, data: { ...node.data, bypass: true } });
const box = (id: string, text = "words"): Node => ({ id, type: "text-box", data: { text } });
const chat: Node = { id: "chat", type: "llm-assistant", data: { model: "chat" } };
const pic = (id: string): Node => ({ id, type: "generate-image", data: { model: "pic", inputs: { prompt: "p" } } });

describe("a bypassed node", () => {
  it("passes its input on without a call or a charge", () => {
    const plan = planned(
      [box("words"), off(chat), pic("picture"), OUT],
      [
        ["words.text", "chat.prompt"],
        ["chat.text", "picture.prompt"],
        ["picture.image", "out.images"],
      ],
    );
    expect(plan.steps.map(({ id }) => id)).toEqual(["picture"]);
    expect(plan.steps[0]!.sources.prompt).toEqual([{ value: "words" }]);
    expect(holdItems(plan).map(({ key }) => key)).toEqual(["picture:0"]);
    expect(plan.warnings).toEqual({});
  });

  it("prefers the input with its output's name, in any order", () => {
    const nodes = [pic("mask"), pic("base"), off(pic("edit")), OUT];
    const into: Edge[] = [
      ["mask.image", "edit.mask"],
      ["base.image", "edit.image"],
    ];
    const output = (edges: Edge[]) => planned(nodes, [...edges, ["edit.image", "out.images"]]).output.images;
    expect(output(into)).toEqual([{ node: "base", port: "image" }]);
    expect(output([...into].reverse())).toEqual([{ node: "base", port: "image" }]);
    expect(output(into.slice(0, 1))).toEqual([{ node: "mask", port: "image" }]);
  });

  it("passes all edges of a port on in order, also through other bypassed nodes", () => {
    const plan = planned(
      [pic("a"), pic("b"), off(pic("first")), off(pic("second")), OUT],
      [
        ["a.image", "first.image"],
        ["b.image", "first.image"],
        ["first.image", "second.image"],
        ["second.image", "out.images"],
      ],
    );
    expect(plan.output.images?.map((from) => "node" in from && from.node)).toEqual(["a", "b"]);
  });

  it("leads to the default port of an edge without a target handle", () => {
    const plan = planned(
      [input({ name: "idea", type: "text" }), off(box("style", "{{idea}}, in oil")), OUT],
      [
        ["in.idea", "style.idea"],
        ["style.text", "out"],
      ],
      { idea: "a heron" },
    );
    expect(plan.output).toEqual({ text: [{ value: "a heron" }] });
  });

  it("warns on the node that gets no value through it, because text isn't an image", () => {
    const plan = planned(
      [box("words"), off({ ...pic("picture"), data: { label: "Poster" } }), OUT],
      [
        ["words.text", "picture.prompt"],
        ["picture.image", "out.images"],
      ],
    );
    expect(plan.output).toEqual({});
    expect(plan.warnings.out?.at(-1)).toBe(
      'images gets no value: "Poster" (picture) is bypassed, and none of its inputs has a matching type',
    );
  });

  it("isn't checked, needs no model, and isn't part of estimates", () => {
    const nodes = [off({ id: "gone", type: "generate-image", data: { model: "retired", inputs: 7 } }), pic("picture")];
    expect(issues(nodes, [["nowhere.x", "gone.image"]])).toEqual([]);
    expect(modelNames(graphOf(nodes, []))).toEqual(["pic"]);
    expect(generatorUses(graphOf(nodes, [])).map(({ nodeId }) => nodeId)).toEqual(["picture"]);
  });

  it("depends only on the inputs that it passes on, and can't be a target", () => {
    const graph = graphOf(
      [box("words"), pic("base"), off(pic("edit")), pic("last")],
      [
        ["words.text", "edit.prompt"],
        ["base.image", "edit.image"],
        ["edit.image", "last.image"],
      ],
    );
    expect(upToNode(graph, "last")?.nodes.map(({ id }) => id)).toEqual(["base", "edit", "last"]);
    expect(upToNode(graph, "edit")).toBeUndefined();
  });

  it("ends on cycles, and isn't multiplied by the number of paths", () => {
    const ring = planned(
      [off(box("a", "{{x}}")), off(box("b", "{{x}}")), OUT],
      [
        ["a.text", "b.x"],
        ["b.text", "a.x"],
        ["b.text", "out.text"],
      ],
    );
    expect(ring.warnings.out?.at(-1)).toMatch(/^text gets no value: b is bypassed/);
    const ladder = Array.from({ length: 40 }, (_, step) => off(box(`s${step}`, "{{x}}")));
    const doubled = ladder.slice(1).flatMap((_, step): Edge[] => [
      [`s${step}.text`, `s${step + 1}.x`],
      [`s${step}.text`, `s${step + 1}.x`],
    ]);
    const plan = planned([box("words"), ...ladder, OUT], [["words.text", "s0.x"], ...doubled, ["s39.text", "out.text"]]);
    expect(plan.output).toEqual({});
  });
});
