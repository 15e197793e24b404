import { callInputs, fill, holdItems, httpCall, placeholders, planRun, type RunPlan } from "@nodeloom/kernel";
import { graphOf, input, MODELS, OUT, planned, type Edge, type Node } from "../../support";

const filled = (text: string, values: Record<string, unknown>): string =>
  fill(text, (name) => (Object.hasOwn(values, name) ? values[name] : undefined));
const boxed = (text: string, value: unknown, name = "x"): RunPlan =>
  planned(
    [input({ name, type: "json" }), { id: "box", type: "text-box", data: { text } }, OUT],
    [
      [`in.${name}`, `box.${name}`],
      ["box.text", "out.made"],
    ],
    value === undefined ? {} : { [name]: value },
  );
const outputOf = (plan: RunPlan): unknown => (plan.output.made![0] as { value: unknown }).value;

describe("templates", () => {
  it.each([
    ["{{x}}", ["x"]],
    ["{{ x }}{{\tx\n}}", ["x"]],
    ["{{größe}} {{名前}} {{имя_1}} {{a.b-c}}", ["größe", "名前", "имя_1", "a.b-c"]],
    ["\\{{x}} {{y}}", ["y"]],
    ["{{}} {{ }} {x} {{x y}} {{{{ {{-x}} {{x}", []],
    ["{{{x}}}", ["x"]],
    ["{{__proto__}}{{constructor}}", ["__proto__", "constructor"]],
    ["{{clip.duration}} {{clip.width}}x{{clip.height}} {{a.b.width}} {{width}}", ["clip", "a.b", "width"]],
  ])("finds the names of %j", (text, names) => expect(placeholders(text)).toEqual(names));

  it.each<[string, unknown, string]>([
    ["a {{x}} b", "1", "a 1 b"],
    ["\\{{x}} is {{x}}", "1", "{{x}} is 1"],
    ["{{x}}{{x}}", "$&$1", "$&$1$&$1"],
    ["{{x}}", "{{x}}{{y}}", "{{x}}{{y}}"],
    ["{{x}}", 0, "0"],
    ["{{x}}", 1.5e21, "1.5e+21"],
    ["{{x}}", false, "false"],
    ["{{x}}", null, ""],
    ["{{x}}", { a: [1] }, '{"a":[1]}'],
    ["{{x}}", { url: "https://m/a.png", contentType: "image/png" }, "https://m/a.png"],
  ])("fills %j with %j as %j", (text, value, expected) => {
    expect(filled(text, { x: value })).toBe(expected);
    expect(outputOf(boxed(text, value))).toBe(expected);
  });

  const CLIP = { url: "https://m/a.mp4", contentType: "video/mp4", width: 640, height: 360, duration: 5.04 };
  it.each<[string, unknown, unknown]>([
    ["{{x.duration}} s at {{ x.width }}×{{x.height}}: {{x}}", CLIP, "5.04 s at 640×360: https://m/a.mp4"],
    ["{{x.duration}}", [CLIP, { ...CLIP, duration: 2 }], ["5.04", "2"]],
    // The size is unknown, or the value isn't a file.
    ["<{{x.duration}}>", { url: CLIP.url, contentType: "video/mp4" }, "<>"],
    ["<{{x.duration}}>", "text", "<>"],
    ["<{{x.width}}>", { constructor: 1 }, "<>"],
  ])("fills %j with the dimensions of a file", (text, value, expected) => expect(outputOf(boxed(text, value))).toEqual(expected));

  it("fills in dimensions and durations of files in every template", () => {
    const nodes = [
      input({ name: "x", type: "json" }),
      { id: "chat", type: "llm-assistant", data: { model: "chat", prompt: "A clip of {{x.duration}} s" } },
      { id: "web", type: "http-request", data: { method: "POST", url: "https://x.test/{{x.width}}", body: { seconds: "{{x.duration}}" } } },
      OUT,
    ];
    const plan = planned(
      nodes,
      [
        ["in.x", "chat.x"],
        ["in.x", "web.x"],
      ],
      { x: CLIP },
    );
    const step = (id: string): RunPlan["steps"][number] => plan.steps.find((one) => one.id === id)!;
    expect(callInputs(step("chat"), { x: CLIP }).prompt).toBe("A clip of 5.04 s");
    expect(httpCall(step("web"), { x: CLIP })).toMatchObject({ url: "https://x.test/640", body: { seconds: "5.04" } });
  });

  it("maps over a list, and joins inner lists by blank lines", () => {
    expect(outputOf(boxed("<{{x}}>", ["a", ["b", "c"], { d: 1 }]))).toEqual(["<a>", "<b\n\nc>", '<{"d":1}>']);
  });

  it("never fills inserted text again", () => {
    const plan = planned(
      [
        input({ name: "x", type: "text" }, { name: "secret", type: "text" }),
        { id: "box", type: "text-box", data: { text: "{{x}}" } },
        { id: "chat", type: "llm-assistant", data: { model: "chat", inputs: {} } },
        { id: "web", type: "http-request", data: { url: "https://x.test/{{box}}", headers: { h: "{{box}}" }, body: { b: ["{{box}}"] } } },
      ],
      [
        ["in.x", "box.x"],
        ["box.text", "chat.prompt"],
        ["box.text", "web.box"],
      ],
      { x: "{{secret}} {{x}}", secret: "s" },
    );
    const values = (id: string): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(plan.steps.find((step) => step.id === id)!.sources).map(([name, [one]]) => [
          name,
          (one as { value: unknown }).value,
        ]),
      );
    const step = (id: string): RunPlan["steps"][number] => plan.steps.find((one) => one.id === id)!;
    expect(callInputs(step("chat"), values("chat")).prompt).toBe("{{secret}} {{x}}");
    expect(httpCall(step("web"), values("web"))).toMatchObject({
      url: "https://x.test/%7B%7Bsecret%7D%7D%20%7B%7Bx%7D%7D",
      headers: { h: "{{secret}} {{x}}" },
      body: { b: ["{{secret}} {{x}}"] },
    });
  });

  it("are filled with the literal of a name in data.inputs or data if nothing is linked", () => {
    const literal = (data: Record<string, unknown>): unknown =>
      outputOf(planned([{ id: "box", type: "text-box", data }, OUT], [["box.text", "out.made"]]));
    expect(literal({ text: "{{a}}-{{b}}-{{c}}", a: "A", inputs: { a: "I", b: 2 } })).toBe("I-2-");
    expect(literal({ text: "{{a}}", a: "A" })).toBe("A");
    expect(literal({ text: "{{text}}{{label}}{{a}}", label: "Box", a: null })).toBe("");
    expect(literal({ text: "<{{a}}>", inputs: { a: ["x", "y"] } })).toEqual(["<x>", "<y>"]);
  });

  it("prefer a linked value to a literal", () => {
    const box = { id: "box", type: "text-box", data: { text: "{{x}}", x: "A", inputs: { x: "B" } } };
    const edges: Edge[] = [
      ["in.x", "box.x"],
      ["box.text", "out.made"],
    ];
    expect(outputOf(planned([input({ name: "x", type: "text" }), box, OUT], edges, { x: "given" }))).toBe("given");
  });

  it("take literals in the texts of models and requests, which the model itself doesn't get", () => {
    const plan = planned(
      [
        { id: "pic", type: "generate-image", data: { model: "pic", inputs: { prompt: "a {{animal}}", animal: "cat" } } },
        { id: "web", type: "http-request", data: { url: "https://x.test/{{id}}", inputs: { id: 7 } } },
        OUT,
      ],
      [["web.body", "out.body"]],
    );
    const [pic, web] = plan.steps as [RunPlan["steps"][number], RunPlan["steps"][number]];
    expect(callInputs(pic, { animal: "cat" })).toEqual({ prompt: "a cat" });
    expect(pic.sources).toEqual({ animal: [{ value: "cat" }] });
    expect(httpCall(web, { id: 7 })).toMatchObject({ url: "https://x.test/7" });
    expect(plan.warnings).toEqual({});
  });

  it("warns about placeholders without a link and unset inputs", () => {
    expect(boxed("{{x}} {{y}}", undefined).warnings.box).toEqual([
      "{{x}} has no value and becomes empty text",
      "{{y}} is not connected and becomes empty text",
    ]);
    expect(boxed("{{x}} \\{{y}}", "").warnings).toEqual({});
  });

  it("treats names of inherited members like other names", () => {
    for (const name of ["__proto__", "constructor", "toString"]) expect(outputOf(boxed(`[{{${name}}}]`, "v", name))).toBe("[v]");
    expect(
      Object.entries(
        callInputs({ literals: JSON.parse('{"__proto__":1}') as object, textPorts: [], inputNames: [], listPorts: [] } as never, {}),
      ),
    ).toEqual([["__proto__", 1]]);
    expect(({} as Record<string, unknown>).v).toBeUndefined();
  });

  it("fills a prompt with its own node's other inputs, and nothing in settings that aren't text", () => {
    const plan = planned(
      [
        input({ name: "who", type: "text" }),
        { id: "pic", type: "generate-image", data: { model: "pic", inputs: { prompt: "for {{who}}" } } },
      ],
      [["in.who", "pic.who"]],
      { who: "Ada" },
    );
    expect(callInputs(plan.steps[0]!, { who: "Ada" })).toEqual({ prompt: "for Ada" });
  });
});

describe("an empty list", () => {
  const nodes: Node[] = [
    { id: "none", type: "list", data: { items: [] } },
    { id: "box", type: "text-box", data: { text: "a {{x}}" } },
    { id: "pic", type: "generate-image", data: { model: "pic" } },
    { id: "clip", type: "generate-video", data: { model: "clip", inputs: { prompt: "p" } } },
    { id: "web", type: "http-request", data: { url: "https://x.test/{{x}}" } },
    OUT,
  ];
  const edges: Edge[] = [
    ["none.items", "box.x"],
    ["box.text", "pic.prompt"],
    ["pic.image", "clip.image"],
    ["none.items", "web.x"],
    ["box.text", "out.made"],
  ];

  it("runs its node and later ones zero times: they return an empty list and hold nothing", () => {
    const plan = planned(nodes, edges);
    expect(outputOf(plan)).toEqual([]);
    expect(plan.steps.map(({ id, maxItems }) => [id, maxItems])).toEqual([
      ["web", 0],
      ["pic", 0],
      ["clip", 0],
    ]);
    expect(holdItems(plan)).toEqual([]);
  });

  it("counts beside a list whose length only the run determines, because both must be equally long", () => {
    const plan = planned(
      [...nodes, { id: "ids", type: "http-request", data: { url: "https://x.test" } }],
      [...edges, ["ids.body", "clip.prompt"]],
    );
    expect(plan.steps.find(({ id }) => id === "clip")).toMatchObject({ maxItems: 0, itemLimit: 0 });
  });

  it("doesn't replace a missing input", () => {
    const missing = [...nodes.slice(0, 2), { id: "pic", type: "generate-image", data: { model: "pic" } }];
    const graph = graphOf(missing, [
      ["none.items", "box.x"],
      ["none.items", "pic.image"],
    ]);
    const { issues } = planRun({ graph, inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_000 });
    expect(issues).toMatchObject([{ nodeId: "pic", message: "prompt: is required" }]);
  });

  it("can't be paired with a list that has items", () => {
    const pair = graphOf(
      [nodes[0]!, { id: "two", type: "list", data: { items: [1, 2] } }, { id: "box", type: "text-box", data: { text: "{{a}}{{b}}" } }],
      [
        ["none.items", "box.a"],
        ["two.items", "box.b"],
      ],
    );
    const { issues } = planRun({ graph: pair, inputs: new Map(), models: MODELS, media: new Map(), markupPermille: 1_000 });
    expect(issues).toMatchObject([{ nodeId: "box", message: "lists of 0 and 2 items flow into a and b: their lengths must agree" }]);
  });
});

describe("an absent input", () => {
  it("keeps the literal that its edge would replace", () => {
    const plan = planned(
      [
        input({ name: "x", type: "text" }),
        { id: "web", type: "http-request", data: { url: "https://x.test", method: "POST", body: "own" } },
      ],
      [["in.x", "web.body"]],
    );
    expect(httpCall(plan.steps[0]!, { body: undefined }).body).toBe("own");
    expect(httpCall(plan.steps[0]!, { body: "" }).body).toBe("");
  });
});
