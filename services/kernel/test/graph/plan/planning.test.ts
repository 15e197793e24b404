import { buildResult, callInputs, holdItems, planRun, type GraphIssue } from "@nodeloom/kernel";
import { graphOf, input, issues, MODELS, OUT, planned, type Edge, type Node } from "../../support";

const TEXT: Node = { id: "t", type: "text-box", data: { text: "x" } };

const nothing = (): undefined => undefined;

describe("planning", () => {
  it("evaluates known values, so that a text-only graph leaves nothing to run", () => {
    const plan = planned(
      [input({ name: "who", type: "text" }), { id: "box", type: "text-box", data: { text: "Hello {{who}}, {{ nobody }}!" } }, OUT],
      [
        ["in.who", "box.who"],
        ["box.text", "out.text"],
      ],
      { who: "Ada" },
    );
    expect(plan.steps).toEqual([]);
    expect(buildResult(plan.output, nothing)).toEqual({ text: "Hello Ada, !" });
    expect(plan.warnings.box).toEqual(["{{nobody}} is not connected and becomes empty text"]);
  });

  it("puts steps in dependency order and lets edges replace literals", () => {
    const plan = planned(
      [
        OUT,
        { id: "b", type: "generate-video", data: { model: "clip", inputs: { prompt: "own", seconds: 3 } } },
        { id: "a", type: "generate-image", data: { model: "pic", inputs: { prompt: "x" } } },
      ],
      [
        ["a.image", "b.image"],
        ["b.video", "out.videos"],
      ],
    );
    expect(plan.steps.map((step) => step.id)).toEqual(["a", "b"]);
    const [, b] = plan.steps;
    expect(callInputs(b!, { image: { url: "https://m/x.png", contentType: "image/png" } })).toEqual({
      prompt: "own",
      seconds: 3,
      image: "https://m/x.png",
    });
  });

  it("holds the maximum per call: for known lists exactly, for unknown ones by their limit", () => {
    const list: Node = { id: "list", type: "list", data: { items: ["one", "two", "three"] } };
    const pic: Node = { id: "pic", type: "generate-image", data: { model: "pic", inputs: { count: 2 } } };
    const clip: Node = { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p", seconds: 2 } } };
    const plan = planned(
      [list, pic, clip, OUT],
      [
        ["list.items", "pic.prompt"],
        ["pic.image", "clip.image"],
        ["clip.video", "out.videos"],
      ],
    );
    const holds = holdItems(plan);
    expect(holds.filter((item) => item.model === "pic")).toEqual(
      [0, 1, 2].map((item) => ({ key: `pic:${item}`, model: "pic", maxMillicredits: 6_000 })),
    );
    // Three calls with two pictures each provide the inputs of the video node.
    expect(holds.filter((item) => item.model === "clip")).toHaveLength(6);
    expect(holds.find((item) => item.model === "clip")!.maxMillicredits).toBe(15_000);
  });

  it("prices a number that is known only at run time by its maximum", () => {
    const http: Node = { id: "http", type: "http-request", data: { url: "https://example.com", extract: "/n" } };
    const plan = planned(
      [http, { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p" } } }],
      [["http.status", "clip.seconds"]],
    );
    expect(holdItems(plan)[0]!.maxMillicredits).toBe(75_000);
  });

  it("holds the price of a linked, known number even if another input is unknown", () => {
    const plan = planned(
      [
        input({ name: "count", type: "number" }, { name: "seconds", type: "number" }),
        { id: "llm", type: "llm-assistant", data: { model: "chat", inputs: { prompt: "hi" } } },
        { id: "pic", type: "generate-image", data: { model: "pic" } },
        { id: "clip", type: "generate-video", data: { model: "clip" } },
      ],
      [
        ["in.count", "pic.count"],
        ["llm.text", "pic.prompt"],
        ["in.seconds", "clip.seconds"],
        ["llm.text", "clip.prompt"],
      ],
      { count: 4, seconds: 9 },
    );
    const heldByKey = new Map(holdItems(plan).map((item) => [item.key, item.maxMillicredits]));
    expect(heldByKey.get("pic:0")).toBe(4 * 3_000);
    expect(heldByKey.get("clip:0")).toBe(9 * 7_500);
  });

  it("holds as many calls as a known list has items, even if other inputs are unknown", () => {
    const plan = planned(
      [
        { id: "list", type: "list", data: { items: ["a", "b"] } },
        { id: "web", type: "http-request", data: { url: "https://example.com" } },
        { id: "pic", type: "generate-image", data: { model: "pic" } },
      ],
      [
        ["list.items", "pic.prompt"],
        ["web.body", "pic.image"],
      ],
    );
    expect(holdItems(plan)).toHaveLength(2);
  });

  it("treats names of inherited members like other names", () => {
    const plan = planned(
      [
        input({ name: "constructor", type: "text" }, { name: "toString", type: "json" }),
        { id: "constructor", type: "text-box", data: { text: "[{{valueOf}}{{__proto__}}{{constructor}}]" } },
        OUT,
      ],
      [
        ["in.constructor", "constructor.constructor"],
        ["constructor.text", "out.constructor"],
        ["constructor.text", "out.__proto__"],
        ["in.toString", "out.toString"],
        ["in.constructor", "out"],
      ],
      { constructor: "c", toString: "t" },
    );
    const result = buildResult(plan.output, nothing);
    expect(Object.entries(result)).toEqual(
      expect.arrayContaining([
        ["constructor", ["[c]", "c"]],
        ["__proto__", "[c]"],
        ["toString", "t"],
      ]),
    );
    expect(plan.warnings.constructor).toHaveLength(2);
  });

  it.each<[string, Node[], Edge[], string, RegExp]>([
    ["without a response-output", [TEXT], [], "t", /no result: add a response-output/],
    ["whose response-output gets nothing", [TEXT, OUT], [], "out", /no result: connect this node/],
  ])("warns about a run %s", (_, nodes, edges, id, message) => {
    expect(planned(nodes, edges).warnings[id]).toEqual([expect.stringMatching(message)]);
  });

  it("has no warning if a run has a result, or runs only a part of the workflow", () => {
    expect(planned([TEXT, OUT], [["t.text", "out.text"]]).warnings).toEqual({});
    const part = { graph: graphOf([TEXT], []), inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_500, isPart: true };
    expect(planRun(part).plan!.warnings).toEqual({});
  });

  it("omits an absent input from a list", () => {
    const plan = planned(
      [
        input({ name: "extra", type: "text" }),
        { id: "list", type: "list", data: { items: ["a", "b"] } },
        { id: "pic", type: "generate-image", data: { model: "pic" } },
      ],
      [
        ["in.extra", "list.items"],
        ["list.items", "pic.prompt"],
      ],
    );
    expect(holdItems(plan).map((item) => item.key)).toEqual(["pic:0", "pic:1"]);
  });

  it("accepts URLs as files, and treats empty texts as unset", () => {
    const flowing = (text: string): Pick<GraphIssue, "nodeId" | "message">[] =>
      issues(
        [
          { id: "box", type: "text-box", data: { text } },
          { id: "pic", type: "generate-image", data: { model: "pic", inputs: { prompt: "p" } } },
        ],
        [["box.text", "pic.image"]],
      );
    for (const text of ["https://x.test/a.png", "data:image/png;base64,aaaa", ""]) expect(flowing(text)).toEqual([]);
    for (const text of ["a picture of a boat", "ftp://x.test/a.png", "data:,x"])
      expect(flowing(text)).toEqual([{ nodeId: "pic", message: "image: must be a file: an http(s) URL, a data URL or a media id" }]);
    expect(flowing("no-such-file")).toEqual([{ nodeId: "pic", message: "image: you have no media file no-such-file" }]);
  });

  it("passes a list to a list input even from a single edge", () => {
    const step = { literals: {}, textPorts: [], inputNames: ["images"], listPorts: ["images"] };
    expect(callInputs(step, { images: { url: "u", contentType: "image/png" } })).toEqual({ images: ["u"] });
    expect(callInputs(step, { images: ["u", "v"] })).toEqual({ images: ["u", "v"] });
  });

  it("keeps literals unchanged with noTemplates", () => {
    const request = { graph: graphOf([{ id: "chat", type: "llm-assistant", data: { model: "chat", inputs: { prompt: "a {{b}}" } } }], []) };
    const rest = { inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_500 };
    const [literal] = planRun({ ...request, ...rest, noTemplates: true }).plan!.steps;
    expect(callInputs(literal!, {}).prompt).toBe("a {{b}}");
    const [template] = planRun({ ...request, ...rest }).plan!.steps;
    expect(callInputs(template!, {}).prompt).toBe("a ");
  });

  it("limits a text model by its longest answer", () => {
    const [item] = holdItems(planned([{ id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "hi", maxTokens: 1_000 } }], []));
    expect(item!.maxMillicredits).toBeGreaterThanOrEqual(225);
    expect(item!.maxMillicredits).toBeLessThan(260);
  });

  it("omits notes and still runs nodes that no output needs", () => {
    const plan = planned(
      [
        { id: "n", type: "note", data: {} },
        { id: "a", type: "generate-image", data: { model: "pic", inputs: { prompt: "x" } } },
      ],
      [],
    );
    expect(plan.steps.map((step) => step.id)).toEqual(["a"]);
    expect(plan.evaluated).toEqual([]);
  });
});
