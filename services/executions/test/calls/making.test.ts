import { media } from "@nodeloom/proto";
import { makingOf } from "../../src/calls/making";
import type { CatalogModel } from "../../src/plan/model-catalog";
import type { ModelCall } from "../../src/run/calls";

const { MAKER_ALGORITHM, MAKER_MODEL } = media.Maker;
const FILE = { type: "string", format: "media", contentMediaType: "image/*" };
const MODEL = {
  sandbox: false,
  inputSchema: {
    type: "object",
    properties: { prompt: { type: "string" }, seed: { type: "integer" }, image: FILE, references: { type: "array", items: FILE } },
  },
} as unknown as CatalogModel;

const making = (inputs: Record<string, unknown>, call: Partial<ModelCall> = {}, model = MODEL): media.Making =>
  makingOf({ executionId: "run", nodeId: "picture", model: "painter", inputs, ...call } as ModelCall, model);

it("names the call, its model and each input file once", () => {
  const url = "http://public.test/media/0123.png";
  expect(making({ prompt: "a boat", image: url, references: [{ url, contentType: "image/png" }, "0f".repeat(16)] })).toMatchObject({
    ...{ maker: MAKER_MODEL, model: "painter", nodeId: "picture", executionId: "run" },
    parents: [url, "0f".repeat(16)],
  });
});

it("distinguishes outputs drawn by a program from a model's", () => {
  expect(making({}, {}, { ...MODEL, sandbox: true }).maker).toBe(MAKER_ALGORITHM);
});

it("stores prompts and settings only if the run requests it, and never files", () => {
  const inputs = { prompt: "a boat", seed: 7, image: "http://public.test/media/0123.png" };
  expect(making(inputs).inputsJson).toBe("");
  expect(JSON.parse(making(inputs, { provenance: "full" }).inputsJson)).toEqual({ prompt: "a boat", seed: 7 });
});

it("names the words by which its files are found, and the beginning of the prompt", () => {
  const url = "http://public.test/media/0123.png";
  const inputs = { style: "Woodcut", prompt: "A red fox", image: url, negative_prompt: "blur", seed: 7 };
  const finding = making(inputs, { findableIn: "night-tales", label: "Cover" });
  expect(finding.words).toEqual(["painter", "night", "tales", "cover", "red", "fox", "woodcut"]);
  expect(finding.title).toBe("A red fox");
});

it("names no words if the texts of the run aren't stored", () => {
  expect(making({ prompt: "A red fox" })).toMatchObject({ words: [], title: "" });
});

it("takes the origin that was noted when the job was submitted", () => {
  const origin = { parents: ["0f".repeat(16)], inputsJson: "", words: ["fox"], title: "A fox" };
  expect(making({}, { origin })).toMatchObject(origin);
});

it("stays within media's limits", () => {
  const references = Array.from({ length: 80 }, (_, index) => `http://public.test/media/${index}.png`);
  const long = making(
    { prompt: "p".repeat(100_000), references, image: `data:image/png;base64,${"A".repeat(5_000)}` },
    { provenance: "full" },
  );
  expect(long.parents).toHaveLength(50);
  expect(long.parents.every((parent) => parent.length <= 2_000)).toBe(true);
  expect(Buffer.byteLength(long.inputsJson)).toBeLessThanOrEqual(64 * 1024);
});
