import { planRun, resultFiles, type MediaValue, type RunPlan } from "@nodeloom/kernel";
import { graphOf, input, MODELS, OUT, type Edge, type Node } from "../../support";

const STORAGE = "https://nodeloom.test/media/";
const OURS = `${STORAGE}key.png`;
const FILE: MediaValue = { url: OURS, contentType: "image/png" };

const plan = (nodes: Node[], edges: Edge[], inputs: Record<string, unknown> = {}): RunPlan => {
  const planned = planRun({
    graph: graphOf(nodes, edges),
    inputs: new Map(Object.entries(inputs)),
    models: MODELS,
    media: new Map([["my-file", FILE]]),
    markupPermille: 1_500,
    storage: STORAGE,
  });
  if (!planned.plan) throw new Error(JSON.stringify(planned.issues));
  return planned.plan;
};
const WEB: Node = { id: "web", type: "http-request", data: { url: "https://x.test" } };
const PICTURE: Node = { id: "pic", type: "generate-image", data: { model: "pic", inputs: { prompt: "a heron" } } };
const FIELD = input({ name: "photo", type: "image_upload" }, { name: "json", type: "json" });

const stepsOf = ({ steps }: RunPlan): string[] => steps.map((step) => step.id);

it.each<[string, Node[], Edge[], Record<string, unknown>]>([
  ["what generators make", [PICTURE, OUT], [["pic.image", "out.images"]], {}],
  ["an uploaded file", [{ id: "up", type: "media-upload", data: { mediaId: "my-file" } }, OUT], [["up.media", "out.images"]], {}],
  ["an address in our storage", [FIELD, OUT], [["in.photo", "out.images"]], { photo: OURS }],
  ["nothing at all", [FIELD, OUT], [["in.photo", "out.images"]], {}],
  ["values in other members", [WEB, OUT], [["web.body", "out.links"]], {}],
])("%s needs no step to be a result", (_what, nodes, edges, inputs) => {
  expect(stepsOf(plan(nodes, edges, inputs))).not.toContain("out");
});

it.each<[string, Node[], Edge[], Record<string, unknown>]>([
  ["what an HTTP request answers", [WEB, OUT], [["web.body", "out.images"]], {}],
  ["an address elsewhere", [FIELD, OUT], [["in.photo", "out.images"]], { photo: "https://x.test/a.png" }],
  ["a data URL of the caller's", [FIELD, OUT], [["in.photo", "out.images"]], { photo: "data:image/png;base64,AAAA" }],
  ["an address that only begins like ours", [FIELD, OUT], [["in.photo", "out.images"]], { photo: `${STORAGE}../api/me` }],
  [
    "a file among others that are ours",
    [WEB, PICTURE, OUT],
    [
      ["pic.image", "out.images"],
      ["web.body", "out.images"],
    ],
    {},
  ],
])("%s is fetched by a step of the response-output node", (_what, nodes, edges, inputs) => {
  const planned = plan(nodes, edges, inputs);
  expect(stepsOf(planned)).toContain("out");
  expect(planned.output).toEqual({ images: [{ node: "out", port: "images" }] });
});

it("a run fetches no more files than the limit, and they count as calls", () => {
  const webs = Array.from({ length: 20 }, (_, index): Node => ({ ...WEB, id: `web${index}` }));
  const planned = plan(
    [...webs, OUT],
    webs.map(({ id }): Edge => [`${id}.body`, "out.images"]),
  );
  expect(planned.steps.find((step) => step.id === "out")!.maxItems).toBe(100);
  const many = Array.from({ length: 101 }, (_, index) => `https://x.test/${index}.png`);
  const step = { sources: { images: [{ node: "web", port: "body" }] } };
  expect(() => resultFiles(step, () => many, STORAGE)).toThrow("its result has 101 files from other servers: at most 100 are allowed");
  expect(resultFiles(step, () => [...many.slice(1), ...many.slice(1), OURS], STORAGE)).toHaveLength(201);
});

it("distinguishes own from external files, and the source of their names", () => {
  const step = { sources: { images: [{ value: "data:image/png;base64,AAAA" }, { node: "web", port: "body" }] } };
  const references = [{ url: "https://x.test/a.png", contentType: "image/png" }, OURS, FILE, "", null, { url: "https://x.test/b.png" }];
  expect(resultFiles(step, () => references, STORAGE)).toEqual([
    { port: "images", family: "image", reference: "data:image/png;base64,AAAA", given: true },
    { port: "images", family: "image", reference: "https://x.test/a.png", given: false },
    { port: "images", family: "image", reference: OURS, given: false, stored: OURS },
    { port: "images", family: "image", reference: OURS, given: false, stored: FILE },
    { port: "images", family: "image", reference: "https://x.test/b.png", given: false },
  ]);
});

it.each([[7], [true], [{ id: 1 }], [{ url: 5 }], [[["a"]]]])("%j isn't a file", (value) => {
  const step = { sources: { images: [{ node: "web", port: "body" }] } };
  expect(() => resultFiles(step, () => [value], STORAGE)).toThrow(/^images: .* isn't a file$/);
});
