import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonSchema } from "@nodeloom/kernel";
import { boxOf, fullHeight, NODE } from "../../src/canvas/geometry";
import { createPortBook } from "../../src/canvas/ports";
import { nodesOf, readDocGraph } from "../../src/document/graph";

interface Template {
  slug: string;
  nodes: object[];
  edges: object[];
}
const ROOT = join(__dirname, "../../../..");
const SEEDS = "import('./deploy/local/seed/templates/index.mjs').then(({ TEMPLATES }) => process.stdout.write(JSON.stringify(TEMPLATES)))";
const templates = JSON.parse(execFileSync(process.execPath, ["-e", SEEDS], { cwd: ROOT, encoding: "utf8" })) as Template[];

const REGISTRY = join(ROOT, "services/models/registry");
const models = new Map(
  readdirSync(REGISTRY).map((name) => {
    const entry = JSON.parse(readFileSync(join(REGISTRY, name), "utf8")) as {
      internalName: string;
      inputSchema: JsonSchema;
      outputs: string[];
    };
    return [entry.internalName, entry];
  }),
);

/** Nodes that would overlap once all of them show results. */
const covered = ({ nodes, edges }: Template): string[] => {
  const graph = readDocGraph(JSON.stringify(nodes), JSON.stringify(edges));
  const model = ({ data }: { data: { model?: unknown } }) => models.get(String(data.model));
  const ports = createPortBook()(graph, { schemaOf: (node) => model(node)?.inputSchema, resultsOf: (node) => model(node)?.outputs });
  const rects = nodesOf(graph).map((node) => {
    const own = ports.get(node.id)!;
    const shows = node.type === "request-input" ? boxOf(node, own, { preview: "picture", items: 2 }).height : fullHeight(node, own);
    return { id: node.id, x: node.x, y: node.y, bottom: node.y + shows };
  });
  return rects.flatMap((a) =>
    rects.flatMap((b) => (a !== b && Math.abs(a.x - b.x) < NODE.width && a.y <= b.y && a.bottom > b.y ? [`${a.id} over ${b.id}`] : [])),
  );
};

it.each(templates)("leaves room for what the nodes of the template $slug make", (template) => {
  expect(covered(template)).toEqual([]);
});
