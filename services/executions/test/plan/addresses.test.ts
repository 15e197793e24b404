import { createLocalPlanner } from "../../src/plan/planner/local";
import type { PlanAnswer, PlanTask, TaskModel } from "../../src/plan/planner/protocol";

const { plan } = createLocalPlanner({ addresses: { allow: ["10.0.0.9:80"], own: "http://127.0.0.1:8080/media/" } });

const MODEL: TaskModel = {
  internalName: "pic",
  modality: "image",
  providerKind: "http-polling",
  price: { basis: "run", microUsd: 1 },
  inputSchemaJson: JSON.stringify({
    type: "object",
    properties: {
      prompt: { type: "string" },
      image: { type: "string", format: "media" },
      images: { type: "array", items: { type: "string", format: "media" } },
      settings: { type: "object" },
    },
  }),
};
const rest = { models: [MODEL], media: [], lookedUp: [], markupPermille: 1_000, storesNothing: true } satisfies Partial<PlanTask>;
const direct = (inputs: object): PlanAnswer => plan({ ...rest, target: { model: "pic" }, inputsJson: JSON.stringify(inputs) });
let graphs = 0;
const workflow = (nodes: object[], edges: object[], inputs: object = {}): PlanAnswer => {
  const graph = { key: `graph@${graphs++}`, nodesJson: JSON.stringify(nodes), edgesJson: JSON.stringify(edges) };
  return plan({ ...rest, target: { graph, isForeign: false }, inputsJson: JSON.stringify(inputs) });
};

const INSIDE = "http://10.0.0.1/a.png";
const MESSAGE = "refused to call 10.0.0.1: it is not a public address";

it.each([
  ["a file", { image: INSIDE }, "inputs.image"],
  ["a list of files", { images: ["https://x.test/a.png", INSIDE] }, "inputs.images"],
  ["JSON", { settings: { from: [{ url: INSIDE }] } }, "inputs.settings"],
])("a private address in %s is rejected as an input, whichever service fetches it", (_what, inputs, path) => {
  expect(direct({ prompt: "x", ...inputs })).toMatchObject({
    answer: "error",
    error: { reason: "INVALID_INPUTS", metadata: { issues: [{ path, message: MESSAGE }] } },
  });
});

it.each([
  ["a text that speaks of it", { prompt: INSIDE }],
  ["text inside JSON that is more than the address", { settings: { note: `see ${INSIDE}` } }],
  ["a public address", { image: "https://x.test/a.png" }],
  ["a file of ours", { image: "http://127.0.0.1:8080/media/key.png" }],
  ["an exception of the operator's", { image: "http://10.0.0.9/a.png" }],
  ["a data URL", { image: "data:image/png;base64,AAAA" }],
])("%s is accepted", (_what, inputs) => {
  expect(direct({ prompt: "x", ...inputs }).answer).toBe("plan");
});

it("a private address in an upload field is rejected, even if nothing uses it", () => {
  const fields = [{ name: "photo", type: "image_upload" }];
  expect(workflow([{ id: "in", type: "request-input", data: { fields } }], [], { photo: "http://localhost:1/a.png" })).toMatchObject({
    error: {
      reason: "INVALID_INPUTS",
      metadata: { issues: [{ path: "inputs.photo", message: "refused to call localhost:1: it is not a public address" }] },
    },
  });
});

it("a graph that sends a private address to a provider can't run, and the error names the node", () => {
  const list = { id: "list", type: "list", data: { items: ["https://x.test/a.png", INSIDE] } };
  const pic = { id: "pic", type: "generate-image", data: { model: "pic", inputs: { prompt: "x" } } };
  const edge = { id: "e", source: "list", sourceHandle: "items", target: "pic", targetHandle: "image" };
  expect(workflow([list, pic], [edge])).toMatchObject({
    error: { reason: "WORKFLOW_INVALID", metadata: { issues: [{ nodeId: "pic", message: `image: ${MESSAGE}` }] } },
  });
});
