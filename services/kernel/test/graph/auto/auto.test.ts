import { firstReady, nameIn, noneReady, rankedFor, readGraph, withChosenModels, type Graph, type TaskCandidate } from "../../../src";

const candidate = (internalName: string, part: Partial<TaskCandidate> = {}): TaskCandidate => ({
  ...{ internalName, tasks: ["image"], runsAt: "provider", minTier: "free" },
  ...part,
});
const names = (models: readonly TaskCandidate[]): string[] => models.map(({ internalName }) => internalName);

describe("the models of a task", () => {
  const all = [
    candidate("sandbox-image", { runsAt: "sandbox" }),
    candidate("local-image", { runsAt: "local" }),
    candidate("zeta"),
    candidate("alpha"),
    candidate("song", { tasks: ["music"] }),
  ];

  it("are providers' models first, then local ones, then the sandbox's", () => {
    expect(names(rankedFor("image", all))).toEqual(["alpha", "zeta", "local-image", "sandbox-image"]);
  });

  it("come in the administrators' order, then all others; unknown names are ignored", () => {
    expect(names(rankedFor("image", all, ["gone", "sandbox-image", "zeta"]))).toEqual(["sandbox-image", "zeta", "alpha", "local-image"]);
  });

  it("are used for a tier only if they are ready and the tier includes them", () => {
    const away = { state: "away", reason: "the inference service does not answer" };
    const some = [candidate("dear", { minTier: "business" }), candidate("gone", { status: away }), candidate("good")];
    expect(firstReady(some, "free")?.internalName).toBe("good");
    expect(firstReady(some, "business")?.internalName).toBe("dear");
    expect(firstReady(some, undefined)?.internalName).toBe("dear");
    expect(firstReady(some.slice(1, 2), undefined)).toBeUndefined();
  });

  it("give the next step if none is ready", () => {
    const needs = { state: "needs-key", reason: "add FAL_KEY under Models, or set it in the environment" };
    const some = [candidate("flux", { status: needs }), candidate("dear", { minTier: "pro" })];
    expect(noneReady("image", some, "free")).toBe(
      "no model for auto:image is ready: dear needs the pro tier or a higher one; an administrator can enable flux: add FAL_KEY under Models, or set it in the environment",
    );
    expect(noneReady("image", [], "free")).toBe("no model for auto:image is ready: this installation has none: choose a model");
  });
});

describe("a graph with a model chosen for its task", () => {
  const schema = {
    type: "object",
    properties: { text: { type: "string" }, duration: { type: "integer" }, image: { format: "media" } },
  };
  const chosenModels = new Map([["auto:video", { internalName: "film", inputSchema: schema }]]);
  const graphOf = (data: Record<string, unknown>, edges: [string, string | null][] = []): Graph =>
    readGraph(
      JSON.stringify([
        { id: "a", type: "text-box", data: { text: "a" } },
        { id: "v", type: "generate-video", data: { model: "auto:video", ...data } },
        { id: "other", type: "generate-video", data: { model: "film", inputs: { prompt: "stays" } } },
      ]),
      JSON.stringify(edges.map(([source, targetHandle], index) => ({ id: `e${index}`, source, target: "v", targetHandle }))),
    );
  const become = (data: Record<string, unknown>, edges: [string, string | null][] = []) => {
    const { graph, warnings } = withChosenModels(graphOf(data, edges), chosenModels);
    return { data: graph.nodes[1]!.data, ports: graph.edges.map(({ targetHandle }) => targetHandle), warnings: warnings.get("v"), graph };
  };

  it("names the model, and gives it inputs with its own names", () => {
    const { data, warnings } = become({ inputs: { prompt: "a kite", seconds: 5, image: "https://x.test/a.png" } });
    expect(data).toEqual({ model: "film", inputs: { text: "a kite", duration: 5, image: "https://x.test/a.png" } });
    expect(warnings).toBeUndefined();
  });

  it("links its edges to the model's ports, including the default one", () => {
    expect(become({}, [["a", "prompt"], ["a", null], ["a", "image"]]).ports).toEqual(["text", "text", "image"]); // prettier-ignore
  });

  it("keeps the ports of its templates and their values", () => {
    const { data, ports, warnings } = become({ inputs: { prompt: "a {{thing}}", thing: "kite" } }, [["a", "thing"]]);
    expect(data.inputs).toEqual({ text: "a {{thing}}", thing: "kite" });
    expect([ports, warnings]).toEqual([["thing"], undefined]);
  });

  it("drops inputs that the model doesn't have, with a warning for each", () => {
    const { data, ports, warnings } = become({ inputs: { prompt: "x", ratio: "16:9", voice: "" } }, [["a", "audio"]]);
    expect(data.inputs).toEqual({ text: "x" });
    expect(ports).toEqual([]);
    expect(warnings).toMatchObject([
      { message: "auto:video uses film, which has no input ratio: the input is ignored" },
      { message: "auto:video uses film, which has no input audio: the input is ignored" },
    ]);
  });

  it("replaces a retired model only where the node accepts its successor, and renames inputs between both", () => {
    const replacements = new Map([["old-film", chosenModels.get("auto:video")!]]);
    const replace = (data: Record<string, unknown>) => withChosenModels(graphOf({ model: "old-film", ...data }), replacements);
    const { graph, warnings } = replace({ onRetired: "successor", inputs: { prompt: "a kite", length: 5 } });
    expect(graph.nodes[1]!.data).toMatchObject({ model: "film", inputs: { text: "a kite" } });
    expect(warnings.get("v")![0]).toMatchObject({ code: "MODEL_REPLACED", params: { model: "old-film", successor: "film" } });
    for (const data of [{}, { onRetired: "fail" }]) expect(replace(data).graph.nodes[1]!.data.model).toBe("old-film");
  });

  it("keeps nodes that name a model, and graphs without tasks", () => {
    expect(become({}).graph.nodes[2]!.data).toEqual({ model: "film", inputs: { prompt: "stays" } });
    const graph = graphOf({ model: "film" });
    expect(withChosenModels(graph, chosenModels).graph).toBe(graph);
  });
});

it("an input gets the model's name for it, an equal one first", () => {
  expect(nameIn("seconds", new Set(["duration", "seconds"]))).toBe("seconds");
  expect(nameIn("ratio", new Set(["aspect_ratio"]))).toBe("aspect_ratio");
  expect(nameIn("toString", new Set(["aspect_ratio"]))).toBeUndefined();
});
