import { estimateMillicredits, generatorUses, type GeneratorUse } from "@nodeloom/kernel";
import { graphOf, input, MODELS, type Node } from "../../support";

/** A picture with a count, followed by another one. */
const usesOf = (count: number): GeneratorUse[] =>
  generatorUses(
    graphOf(
      [
        { id: "a", type: "generate-image", data: { model: "painter", inputs: { count } } },
        { id: "b", type: "generate-image", data: { model: "painter" } },
      ],
      [["a.image", "b.image"]],
    ),
  );

describe("estimates", () => {
  const uses = generatorUses(
    graphOf(
      [
        { id: "a", type: "generate-image", data: { model: "pic", inputs: { prompt: "x", count: 3 } } },
        { id: "b", type: "generate-video", data: { model: "clip", inputs: {} } },
        { id: "c", type: "llm-assistant", data: { model: "chat" } },
      ],
      [],
    ),
  );

  it("sums the generators at the caller's markup", () => {
    expect(estimateMillicredits(uses, MODELS, 1_500)).toBe(9_000 + 30_000);
    expect(estimateMillicredits(uses, MODELS, 2_000)).toBe(12_000 + 40_000);
  });

  it("counts lists and defaults of the saved graph", () => {
    const nodes: Node[] = [
      input({ name: "seconds", type: "number", default: 2 }),
      { id: "list", type: "list", data: { items: ["a", "b"] } },
      { id: "pic", type: "generate-image", data: { model: "pic", inputs: { count: 2 } } },
      { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p" } } },
    ];
    const usesFound = generatorUses(
      graphOf(nodes, [
        ["list.items", "pic.prompt"],
        ["pic.image", "clip.image"],
        ["in.seconds", "clip.seconds"],
      ]),
    );
    expect(usesFound.map(({ nodeId, items }) => [nodeId, items])).toEqual([
      ["pic", 2],
      ["clip", 4],
    ]);
    expect(estimateMillicredits(usesFound, MODELS, 1_500)).toBe(2 * 6_000 + 4 * 15_000);
  });

  it.each<[string, Node, string]>([
    ["a JSON node", { id: "from", type: "json", data: {} }, "from.value"],
    ["an HTTP request", { id: "from", type: "http-request", data: { url: "https://example.com" } }, "from.body"],
    ["a language model that answers with JSON", { id: "from", type: "llm-assistant", data: { schema: {} } }, "from.json"],
  ])("counts a list that %s will provide as the maxItems of the next node, or as one", (_, from, port) => {
    const pic = (data: object): Node => ({ id: "pic", type: "generate-image", data: { model: "pic", ...data } });
    const nodes = [
      from,
      { id: "box", type: "text-box", data: { text: "{{x}}" } },
      pic({ maxItems: 4 }),
      { id: "clip", type: "generate-video", data: { model: "clip" } },
    ];
    const edges: [string, string][] = [
      [port, "box.x"],
      ["box.text", "pic.prompt"],
      ["pic.image", "clip.image"],
    ];
    const itemsOf = (those: Node[]) => generatorUses(graphOf(those, edges)).map(({ items }) => items);
    expect(itemsOf(nodes)).toEqual([4, 4]);
    expect(itemsOf(nodes.map((node) => (node.id === "pic" ? pic({}) : node)))).toEqual([1, 1]);
    const list = { id: "from", type: "list", data: { items: ["a", "b"] } };
    expect(itemsOf([list, ...nodes.slice(1)])).toEqual([2, 2]);
  });

  it("counts a list that nodes compute from the defaults by its length, and only the chosen case of a switch", () => {
    const usesOf = (source: string) =>
      generatorUses(
        graphOf(
          [
            input({ name: "scenes", type: "json", default: '["a", "b", "c"]' }, { name: "source", type: "text", default: source }),
            { id: "list", type: "json", data: { expression: "[?@ != 'c']" } },
            {
              id: "choice",
              type: "switch",
              data: { cases: [{ name: "written", left: "{{source}}", op: "equals", right: "a model" }] },
            },
            { id: "writer", type: "llm-assistant", data: { model: "chat", schema: {} } },
            { id: "scenes", type: "json", data: { expression: "[*]" } },
            { id: "box", type: "text-box", data: { text: "{{scene}} at dusk" } },
            { id: "pic", type: "generate-image", data: { model: "pic", maxItems: 8 } },
          ],
          [
            ["in.scenes", "list.value"],
            ["list.value", "choice.value"],
            ["in.source", "choice.source"],
            ["choice.written", "writer.prompt"],
            ["choice.else", "scenes.value"],
            ["writer.json", "scenes.value"],
            ["scenes.value", "box.scene"],
            ["box.text", "pic.prompt"],
          ],
        ),
      ).map(({ nodeId, items }) => [nodeId, items]);
    expect(usesOf("the list")).toEqual([["pic", 2]]);
    expect(usesOf("a model")).toEqual([["pic", 8]]);
  });

  it.each([
    ["an expression that isn't valid", { expression: "[?" }],
    ["a value that isn't JSON", { value: "scenes" }],
  ])("counts a list behind a JSON node with %s as maxItems", (_, data) => {
    const from = { id: "from", type: "json", data: { value: "[1, 2]", ...data } };
    const pic = { id: "pic", type: "generate-image", data: { model: "pic", maxItems: 4 } };
    expect(generatorUses(graphOf([from, pic], [["from.value", "pic.prompt"]])).map(({ items }) => items)).toEqual([4]);
  });

  it("counts values joined to an unknown list together with it, and a known list separately", () => {
    const pic = { id: "pic", type: "generate-image", data: { model: "pic", maxItems: 4 } };
    const from = { id: "from", type: "json", data: {} };
    const box = { id: "box", type: "text-box", data: { text: "a" } };
    const itemsOf = (those: Node[], edges: [string, string][]) => generatorUses(graphOf(those, edges)).map(({ items }) => items);
    const into: [string, string] = ["from.value", "pic.prompt"];
    expect(itemsOf([from, box, pic], [into, ["box.text", "pic.prompt"]])).toEqual([4]);
    const list = { id: "list", type: "list", data: { items: ["a"] } };
    expect(
      itemsOf(
        [from, list, pic],
        [
          ["from.value", "list.items"],
          ["list.list", "pic.prompt"],
        ],
      ),
    ).toEqual([4]);
    const two = { id: "two", type: "list", data: { items: ["a", "b"] } };
    expect(itemsOf([from, two, pic], [into, ["two.list", "pic.image"]])).toEqual([2]);
  });

  it("counts a value that isn't a list as one, whatever maxItems is", () => {
    const pic = { id: "pic", type: "generate-image", data: { model: "pic", maxItems: 4 } };
    const from = { id: "from", type: "http-request", data: {} };
    expect(generatorUses(graphOf([from, pic], [["from.status", "pic.seed"]])).map(({ items }) => items)).toEqual([1]);
  });

  it("counts whole calls, whatever the settings are", () => {
    expect([...usesOf(1.5), ...usesOf(1e300)].map(({ items }) => items)).toEqual([1, 2, 1, 50]);
  });

  it("counts one call after an empty list, because the node's port can be one for lists", () => {
    const none = { id: "none", type: "list", data: { items: [] } };
    const pic = { id: "pic", type: "generate-image", data: { model: "pic" } };
    expect(generatorUses(graphOf([none, pic], [["none.items", "pic.references"]])).map(({ items }) => items)).toEqual([1]);
  });

  it("ends on a cycle", () => {
    const loop = graphOf(
      [
        { id: "a", type: "generate-image" },
        { id: "b", type: "generate-image" },
      ],
      [
        ["a.image", "b.image"],
        ["b.image", "a.image"],
      ],
    );
    expect(generatorUses(loop).map((use) => use.items)).toEqual([1, 1]);
  });

  it("is null without generators", () => {
    expect(estimateMillicredits([], MODELS, 1_500)).toBeNull();
  });
});
