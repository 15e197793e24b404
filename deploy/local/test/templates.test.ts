import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  createInputCheck,
  fieldProblem,
  inputFields,
  planRun,
  rankedFor,
  readGraph,
  readWrittenPrice,
  TASK_NAMES,
  withChosenModels,
  type ChosenModel,
  type JsonSchema,
  type MediaValue,
  type ModelTerms,
  type WrittenPrice,
} from "@nodeloom/kernel";
import { allSnippets } from "../../../test-support/snippets";
import { tasksOf } from "../../../services/models/src/tasks";

/* Every template of a new installation must run unchanged. */

const ROOT = join(__dirname, "..", "..", "..");
const SEED = join(ROOT, "deploy", "local", "seed", "templates");
const REGISTRY = join(ROOT, "services", "models", "registry");
/** Maximum total size of the sample files. */
const MOST_SAMPLE_BYTES = 300_000;
const MOST_COVER_BYTES = 400_000;

interface Template {
  slug: string;
  name: string;
  description: string;
  tags: string[];
  nodes: { id: string; data: Record<string, unknown> }[];
  edges: object[];
}
interface Entry {
  internalName: string;
  modality: string;
  runsAt?: string;
  sandbox?: boolean;
  minTier: string;
  provider: { kind: string };
  inputSchema: JsonSchema;
  outputs: string[];
  price: WrittenPrice;
}

/** Exports of a launcher module: it is ESM, which Jest can't load here. */
const exportOf = (module: string, name: string): Template[] => {
  const print = `import(${JSON.stringify(join(SEED, module))}).then((all) => process.stdout.write(JSON.stringify(all[${JSON.stringify(name)}])))`;
  return JSON.parse(execFileSync(process.execPath, ["-e", print]).toString()) as Template[];
};
const templates = exportOf("index.mjs", "TEMPLATES");
const demos = exportOf("../workflows.mjs", "WORKFLOWS");

const entries = readdirSync(REGISTRY).map((name) => JSON.parse(readFileSync(join(REGISTRY, name), "utf8")) as Entry);
const termsOf = (entry: Entry): ModelTerms => ({
  internalName: entry.internalName,
  modality: entry.modality,
  providerKind: entry.provider.kind,
  price: readWrittenPrice(entry.price),
  inputSchema: entry.inputSchema,
  outputs: entry.outputs,
  validate: createInputCheck(entry.inputSchema),
});
const models = new Map(entries.map((entry) => [entry.internalName, termsOf(entry)]));

/** Models chosen for tasks on an installation without keys. @param places locations of its models */
const chosenAt = (places: readonly string[]): Map<string, ChosenModel> => {
  const candidates = entries.flatMap((entry) => {
    const runsAt = entry.sandbox ? "sandbox" : (entry.runsAt ?? "provider");
    return places.includes(runsAt) ? [{ ...entry, runsAt, tasks: tasksOf(entry as never) }] : [];
  });
  return new Map(
    TASK_NAMES.flatMap((task) => {
      const [best] = rankedFor(task, candidates);
      return best ? [[`auto:${task}`, best]] : [];
    }),
  );
};

const TYPES: Readonly<Record<string, string>> = { jpg: "image/jpeg", mp3: "audio/mpeg", mp4: "video/mp4" };
const sampleNames = readdirSync(join(SEED, "samples"));
const files = new Map(
  sampleNames.map((name): [string, MediaValue] => [
    name.replace(".", "-"),
    { url: `http://files.test/media/${name}`, contentType: TYPES[name.split(".").at(-1)!]! },
  ]),
);

const graphOf = ({ nodes, edges }: Template) => {
  const namedJson = JSON.stringify(nodes).replace(/"sample:([a-z0-9-]+)\.([a-z0-9]+)"/g, '"$1-$2"');
  return readGraph(namedJson, JSON.stringify(edges));
};

/** Problems and warnings of a template, with models at these places. */
const planned = (template: Template, places: readonly string[]) => {
  const templateGraph = graphOf(template);
  const { graph, warnings } = withChosenModels(templateGraph, chosenAt(places));
  const inputs = new Map<string, unknown>(inputFields(graph).map((field) => [field.name, field.default]));
  const { issues } = planRun({ graph, inputs, models, media: files, markupPermille: 1_000, storage: "http://files.test/media/" });
  return { issues, warnings: [...warnings.values()].flat() };
};

it("are at least twelve, each with a name, a description, a cover and filled inputs", () => {
  expect(templates.length).toBeGreaterThanOrEqual(12);
  expect(new Set(templates.map(({ name }) => name)).size).toBe(templates.length);
  for (const template of templates) {
    expect(template.slug).toBe(template.name.toLowerCase().replaceAll(" ", "-"));
    expect(template.description).toMatch(/^[A-Z].{20,220}\.$/);
    expect(statSync(join(SEED, "covers", `${template.slug}.webp`)).size).toBeGreaterThan(1_000);
    const fields = inputFields(graphOf(template));
    expect(fields.length).toBeGreaterThan(0);
    for (const field of fields) expect([field.name, fieldProblem(field, field.default)]).toEqual([field.name, undefined]);
  }
});

it.each(templates.map((template) => [template.slug, template] as const))("%s runs unchanged with local models", (_, one) => {
  expect(planned(one, ["local", "sandbox"])).toEqual({ issues: [], warnings: [] });
});

it("need a model without a sandbox equivalent only for cutting out or enlarging", () => {
  const others = templates.filter((template) => planned(template, ["sandbox"]).issues.length > 0);
  expect(others.map(({ slug }) => slug).sort()).toEqual(["product-shot", "upscale-and-sharpen"]);
});

it("keep their files small, and have no unused file", () => {
  const sizeOf = (folder: string): number =>
    readdirSync(join(SEED, folder)).reduce((sum, name) => sum + statSync(join(SEED, folder, name)).size, 0);
  expect(sizeOf("samples")).toBeLessThanOrEqual(MOST_SAMPLE_BYTES);
  expect(sizeOf("covers")).toBeLessThanOrEqual(MOST_COVER_BYTES);
  const used = new Set([...JSON.stringify(templates).matchAll(/"sample:([^"]+)"/g)].map(([, name]) => name));
  expect(sampleNames.filter((name) => !used.has(name))).toEqual([]);
  expect(readdirSync(join(SEED, "covers")).sort()).toEqual(templates.map(({ slug }) => `${slug}.webp`).sort());
});

it("include the workflow that the pages name, which takes a prompt and returns pictures", () => {
  const [poster] = demos.filter(({ slug }) => slug === "poster-maker");
  expect(poster?.name.toLowerCase().replaceAll(" ", "-")).toBe("poster-maker");
  expect(inputFields(graphOf(poster!)).map(({ name }) => name)).toEqual(["prompt"]);
  expect(poster!.edges).toContainEqual(expect.objectContaining({ target: "output", targetHandle: "images" }));
  expect(planned(poster!, ["sandbox"])).toEqual({ issues: [], warnings: [] });
});

it("and the demos are all workflows that blocks of the pages run by a name", () => {
  const calls = /(?:workflow: |\.run\(|data-app=|nodeloom run |\/api\/workflows\/)"?([a-z]+(?:-[a-z]+)+)/g;
  const calledNames = allSnippets().flatMap(({ code }) => [...code.matchAll(calls)].map(([, name]) => name!));
  const slugs = [...templates, ...demos].map(({ slug }) => slug);
  // Slugs of workflows that their pages create before they run them.
  const firstTemplates = ["first-poster", "text-to-image"];
  expect([...new Set(calledNames)].filter((name) => !slugs.includes(name) && !firstTemplates.includes(name))).toEqual([]);
  expect(calledNames).toContain("poster-maker");
});
