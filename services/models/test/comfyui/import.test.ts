import { importWorkflow, type NewWorkflow } from "../../src/servers/comfyui/import";

/** Imports ComfyUI workflows, with class definitions in the form that ComfyUI returns (its `server.py`, `node_info`). */

const PROMPT = { class_type: "CLIPTextEncode", inputs: { text: "a loom" }, _meta: { title: "Prompt" } };
const DECODE = { class_type: "VAEDecode", inputs: { samples: ["6", 0] } };
const ending = (class_type: string, inputs: object = {}) => ({ class_type, inputs: { ...inputs, images: ["8", 0] } });
const silent = (): Promise<unknown> => Promise.reject(new Error("no answer"));
const add = (last: object, fields: Partial<NewWorkflow> = {}, ask: (path: string) => Promise<unknown> = silent) =>
  importWorkflow(
    {
      ...{ name: "Portrait", workflow: JSON.stringify({ "6": PROMPT, "8": DECODE, "9": last }) },
      ...{ inputs: [], modality: "", keepMetadata: false, ...fields },
    },
    ask,
  );

it.each([
  ["SaveImage", {}, "image"],
  ["SaveAnimatedWEBP", {}, "image"],
  ["SaveAnimatedPNG", {}, "image"],
  ["SaveVideo", {}, "video"],
  ["SaveWEBM", {}, "video"],
  ["VHS_VideoCombine", { format: "video/h264-mp4" }, "video"],
  ["VHS_VideoCombine", { format: "image/webp" }, "image"],
  ["SaveAudioMP3", {}, "audio"],
])("has the modality of its last node: %s %j makes %s", async (last, inputs, modality) => {
  expect(await add(ending(last, inputs))).toMatchObject({ modality });
});

it("needs the modality of a workflow whose nodes don't show it", async () => {
  await expect(add(ending("MyFilmSaver"))).rejects.toMatchObject({
    message: expect.stringContaining("modality: must be one of") as string,
  });
  expect(await add(ending("MyFilmSaver"), { modality: "video" })).toMatchObject({ modality: "video" });
});

it("rejects animated pictures as a video, because every run of it would fail", async () => {
  await expect(add(ending("SaveAnimatedWEBP"), { modality: "video" })).rejects.toMatchObject({
    message: expect.stringContaining("modality: must be image") as string,
  });
});

it.each(["SaveImageWebsocket", "ETN_SendImageWebSocket"])("rejects %s, which stores no file", async (last) => {
  await expect(add(ending(last), { modality: "image" })).rejects.toMatchObject({
    message: expect.stringContaining(`node 9 (${last}) saves no file: use SaveImage`) as string,
  });
});

it("rejects a node that the server doesn't have, and accepts one that the server doesn't describe", async () => {
  const server = (path: string): Promise<unknown> => Promise.resolve(path.endsWith("/MyFilmSaver") ? {} : { Other: {} });
  await expect(add(ending("MyFilmSaver"), { modality: "video" }, server)).rejects.toMatchObject({
    message: expect.stringContaining("the server does not have the class MyFilmSaver of node 9") as string,
  });
  expect(await add(ending("SaveImage"), {}, server)).toMatchObject({ modality: "image" });
});

it("removes the workflow from its files unless an administrator keeps it", async () => {
  expect(await add(ending("SaveImage"))).not.toHaveProperty("keepMetadata");
  expect(await add(ending("SaveImage"), { keepMetadata: true })).toMatchObject({ keepMetadata: true });
});
