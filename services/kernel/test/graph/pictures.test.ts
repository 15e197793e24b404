import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createInputCheck, planRun, readGraph, type ModelTerms } from "@nodeloom/kernel";

const FOLDER = join(__dirname, "..", "..", "..", "..", "docs", "guide", "pictures");
const read = (file: string): string => readFileSync(join(FOLDER, file), "utf8");
const graphs = Object.entries(
  JSON.parse(read("graphs.json")) as Record<string, { nodes: { id: string; shows?: string[] }[]; edges: unknown[] }>,
);

const inputSchema = { type: "object", additionalProperties: false, required: ["prompt"], properties: { prompt: { type: "string" } } };
const models = new Map(
  ["image", "video", "audio", "text"].map((modality): [string, ModelTerms] => [
    modality,
    {
      ...{ internalName: modality, modality, providerKind: "http-polling", inputSchema },
      ...{ price: { basis: "run", microUsd: 1 }, validate: createInputCheck(inputSchema) },
    },
  ]),
);

describe("the pictures of the guide", () => {
  it("match the script's output", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(FOLDER, "draw.mjs"), "-"]);
    const pictures = JSON.parse(stdout) as Record<string, string>;
    expect(Object.keys(pictures).sort()).toEqual(
      readdirSync(FOLDER)
        .filter((name) => name.endsWith(".svg"))
        .sort(),
    );
    for (const [name, picture] of Object.entries(pictures)) expect(read(name)).toBe(picture);
  });

  it("are all used", () => {
    const guide = readFileSync(join(FOLDER, "..", "workflows.md"), "utf8");
    for (const [name] of graphs) expect(guide).toContain(`](pictures/${name}.svg)`);
  });

  it.each(graphs)("show in %s a graph that can run, and its values", (_, { nodes, edges }) => {
    const request = { inputs: new Map([["subject", "a boat"]]), models, media: new Map(), markupPermille: 1_000 };
    const { plan, issues } = planRun({ graph: readGraph(JSON.stringify(nodes), JSON.stringify(edges)), ...request });
    expect(issues).toEqual([]);
    for (const { id, maxItems } of plan!.steps) {
      const { shows } = nodes.find((node) => node.id === id)!;
      if (shows) expect(shows).toHaveLength(maxItems);
    }
    const prompt = plan!.steps.find(({ id }) => id === "picture")?.sources.prompt;
    const texts = nodes.find(({ id }) => id === "idea")?.shows;
    if (prompt && texts) expect(prompt).toEqual([{ value: texts }]);
  });
});
