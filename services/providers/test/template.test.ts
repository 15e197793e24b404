import { fillTemplate } from "../src/template";

it.each<[string, Record<string, unknown>, unknown]>([
  ["an input", { prompt: { $input: "prompt" }, model: "m" }, { prompt: "a loom", model: "m" }],
  ["an input that is absent", { seed: { $input: "seed" }, model: "m" }, { model: "m" }],
  ["an object of which nothing is left", { image: { url: { $input: "image" } }, model: "m" }, { model: "m" }],
  [
    "an item of which nothing is left",
    { images: [{ url: { $input: "image" } }, { url: { $input: "prompt" } }] },
    { images: [{ url: "a loom" }] },
  ],
  ["a list of which nothing is left", { images: [{ $input: "image" }], model: "m" }, { model: "m" }],
  ["what is empty on purpose", { options: {}, tags: [] }, { options: {}, tags: [] }],
  ["false, nought and empty text", { a: { $input: "off" }, b: { $input: "none" }, c: { $input: "blank" } }, { a: false, b: 0, c: "" }],
  ["texts with inputs in them", { duration: "${seconds}s", size: "${width}x${height}", cost: "$5" }, { duration: "5s", cost: "$5" }],
  ["nothing at all", { image: { $input: "image" } }, {}],
])("a body template has %s", (_name, template, body) => {
  expect(fillTemplate(template, { prompt: "a loom", off: false, none: 0, blank: "", seconds: 5, width: 640 })).toEqual(body);
});
