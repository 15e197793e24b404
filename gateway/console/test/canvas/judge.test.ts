import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonSchema } from "@nodeloom/kernel";
import { judge, modelTerms } from "../../src/canvas/judge";
import { readDocGraph } from "../../src/document/graph";

const REGISTRY = join(__dirname, "../../../../services/models/registry");
const entries = readdirSync(REGISTRY).map(
  (name) => JSON.parse(readFileSync(join(REGISTRY, name), "utf8")) as { internalName: string; inputSchema: JsonSchema },
);

describe("judging a graph", () => {
  const model = {
    internalName: "painter",
    displayName: "Painter",
    description: "",
    modality: "image",
    provider: { kind: "http-polling" },
    company: "sandbox",
    outputs: ["images"],
    inputSchema: entries.find(({ internalName }) => internalName === "sandbox-image")!.inputSchema,
    tierPrice: null,
    price: { perImageUsd: 0.02 },
    minTier: "free",
    trialRuns: 0,
    asyncSupported: true,
    enabled: true,
    sandbox: true,
    runsAt: "sandbox" as const,
    status: "ready" as const,
    statusReason: null,
    tasks: [],
    asOf: null,
    source: null,
    retiresOn: null,
    retired: false,
    successor: null,
    replaces: [],
    fallback: [],
  };
  const terms = modelTerms([model]);
  const nodes = (data: object): string =>
    JSON.stringify([
      { id: "in", type: "request-input", data: { fields: [{ name: "prompt", type: "text" }] } },
      { id: "list", type: "list", data: { items: ["a", "b", "c"] } },
      { id: "image", type: "generate-image", data },
    ]);
  const edge = (source: string, port: string): string =>
    JSON.stringify([{ id: "e", source, sourceHandle: port, target: "image", targetHandle: "prompt" }]);

  it("prices what flows through as the service does", () => {
    const { issues, prices } = judge(readDocGraph(nodes({ model: "painter", inputs: { count: 2 } }), edge("list", "items")), terms, 1_500);
    expect(issues).toEqual([]);
    expect(prices.get("image")).toEqual({ credits: 3 * 2 * 0.02 * 1.5 * 100, calls: 3 });
  });

  it("prices a call by the most expensive fallback model that can run now", () => {
    const dear = { ...model, internalName: "dear", price: { perImageUsd: 0.05 } };
    const away = { ...model, internalName: "away", price: { perImageUsd: 9 }, status: "away" as const };
    const replaced = { ...model, fallback: ["dear", "away", "unknown"] };
    const of = (data: object) =>
      judge(readDocGraph(nodes(data), edge("list", "items")), modelTerms([replaced, dear, away]), 1_500).prices.get("image");
    expect(of({ model: "painter" })).toEqual({ credits: 22.5, calls: 3 });
    expect(of({ model: "painter", fallback: [] })).toEqual({ credits: 9, calls: 3 });
    expect(of({ model: "dear", fallback: ["painter"] })).toEqual({ credits: 22.5, calls: 3 });
  });

  it("takes a field without a default as filled in", () => {
    expect(judge(readDocGraph(nodes({ model: "painter" }), edge("in", "prompt")), terms, 1_500).issues).toEqual([]);
  });

  it("takes a file that an input has by default for one of its kind, and prices what it flows into", () => {
    const photo = { name: "photo", type: "image_upload", default: "0123456789abcdef0123456789abcdef" };
    const graph = readDocGraph(
      JSON.stringify([
        { id: "in", type: "request-input", data: { fields: [photo] } },
        { id: "image", type: "generate-image", data: { model: "painter", inputs: { prompt: "at night" } } },
      ]),
      JSON.stringify([{ id: "e", source: "in", sourceHandle: "photo", target: "image", targetHandle: "image" }]),
    );
    const { issues, prices } = judge(graph, terms, 1_500);
    expect(issues).toEqual([]);
    expect(prices.get("image")).toEqual({ credits: 3, calls: 1 });
  });

  it("leaves a limit on the price of a task to the service, and applies it to a model", () => {
    const task = { task: "image", name: "auto:image", modality: "image", summary: "", inputs: [], model: "painter", reason: null } as const;
    const of = (name: string) =>
      judge(
        readDocGraph(nodes({ model: name, maxCredits: 1, inputs: { prompt: "a" } }), "[]"),
        modelTerms([model], [{ ...task, inputs: [] }]),
        1_500,
      ).issues.map(({ code }) => code);
    expect(of("auto:image")).toEqual([]);
    expect(of("painter")).toEqual(["LIMIT_EXCEEDED"]);
  });

  it("names the node and the missing setting", () => {
    const { issues } = judge(readDocGraph(nodes({ model: "painter" }), "[]"), terms, 1_500);
    expect(issues).toEqual([
      { nodeId: "image", code: "REQUIRED", params: { name: "prompt" }, path: "prompt", message: "prompt: is required" },
    ]);
  });

  it("knows what an uploaded file holds, and says nothing of one that was not read yet", () => {
    const graph = readDocGraph(
      JSON.stringify([
        { id: "photo", type: "media-upload", data: { mediaId: "0123456789abcdef0123456789abcdef" } },
        { id: "image", type: "generate-image", data: { model: "painter", inputs: { prompt: "at night" } } },
      ]),
      JSON.stringify([{ id: "e", source: "photo", sourceHandle: "media", target: "image", targetHandle: "image" }]),
    );
    const issuesWith = (contentType?: string) =>
      judge(graph, terms, 1_500, new Map(contentType === undefined ? [] : [["0123456789abcdef0123456789abcdef", { contentType }]])).issues;
    expect(issuesWith()).toEqual([]);
    expect(issuesWith("image/png")).toEqual([]);
    expect(issuesWith("audio/mpeg")).toEqual([expect.objectContaining({ nodeId: "image", message: expect.stringContaining("audio") })]);
  });

  it("requires a result only if inputs are declared", () => {
    const warned = (source: string, port: string) =>
      Object.values(judge(readDocGraph(nodes({ model: "painter" }), edge(source, port)), terms, 1_500).warnings).flat();
    expect(warned("in", "prompt")).toEqual([expect.objectContaining({ code: "NO_RESULT" })]);
    const alone = readDocGraph(
      JSON.stringify([{ id: "image", type: "generate-image", data: { model: "painter", inputs: { prompt: "a" } } }]),
      "[]",
    );
    expect(judge(alone, terms, 1_500).warnings).toEqual({});
  });
});
