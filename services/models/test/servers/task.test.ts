import { listedModel } from "../../src/servers/task";
import { modelServers } from "../../src/servers/environment";

describe("the task of a listed model", () => {
  it.each([
    ["llama3.2:3b", "chat", false],
    ["qwen2.5-vl-7b-instruct", "chat", true],
    ["gemma3:4b", "chat", true],
    ["nomic-embed-text:latest", "none", false],
    ["bge-m3", "none", false],
    ["Systran/faster-whisper-small", "transcribe", false],
    ["hexgrad/Kokoro-82M", "speech", false],
    ["tts-1", "speech", false],
    ["flux.1-schnell", "image", false],
    ["stable-diffusion-3.5-medium", "image", false],
    ["qwen-image-edit", "image", false],
    ["sd-cpp-local", "image", false],
  ])("by its name: %s", (id, task, sees) => {
    expect(listedModel({ id })).toEqual({ id, task, sees });
  });

  it.each<[object, string, boolean]>([
    [{ type: "embeddings" }, "none", false],
    [{ type: "vlm" }, "chat", true],
    [{ mode: "image_generation" }, "image", false],
    [{ task: "automatic-speech-recognition" }, "transcribe", false],
    [{ type: "stt" }, "transcribe", false],
    [{ type: "STT", input_modalities: ["audio"], output_modalities: ["text"] }, "transcribe", false],
    [{ input_modalities: ["audio"] }, "transcribe", false],
    [{ type: "audio", architecture: { input_modalities: ["audio"], output_modalities: ["text"] } }, "transcribe", false],
    [{ architecture: { input_modalities: ["text", "audio", "image"], output_modalities: ["text"] } }, "chat", true],
    [{ output_modalities: ["audio"] }, "speech", false],
    [{ architecture: { output_modalities: ["text"], input_modalities: ["text", "image"] } }, "chat", true],
    [{ capabilities: ["completion", "multimodal"] }, "chat", true],
    [{ capabilities: ["completion"] }, "chat", false],
  ])("by its server's metadata first: %j", (listing, task, sees) => {
    expect(listedModel({ id: "some-model", ...listing })).toMatchObject({ task, sees });
  });

  it("is absent without an id", () => {
    expect([listedModel({}), listedModel({ id: 1 }), listedModel("llama"), listedModel({ id: "" })]).toEqual(Array(4).fill(undefined));
  });
});

describe("servers in the environment", () => {
  it("are kinds and addresses, named by their host", () => {
    expect(modelServers.parse(" openai=http://gpu-box:11434, comfyui=https://comfy.lan ,openai=http://127.0.0.1:1234/v1/")).toEqual([
      { id: "gpu-box-11434", kind: "openai", name: "gpu-box:11434", url: "http://gpu-box:11434/v1" },
      { id: "comfy-lan-443", kind: "comfyui", name: "comfy.lan:443", url: "https://comfy.lan" },
      { id: "127-0-0-1-1234", kind: "openai", name: "127.0.0.1:1234", url: "http://127.0.0.1:1234/v1" },
    ]);
    expect(modelServers.parse(undefined)).toEqual([]);
  });

  it.each([
    ["ollama=http://gpu-box", "of the kinds openai, comfyui"],
    ["openai=gpu-box:11434", "must be an http(s) URL"],
    ["openai=ftp://gpu-box", "must be an http(s) URL"],
    ["openai=http://me:secret@gpu-box", "must have no credentials"],
    ["openai=http://gpu-box,comfyui=http://gpu-box", "gpu-box:80 is named twice"],
  ])("are rejected with the error: %s", (text, problem) => {
    expect(modelServers.safeParse(text).error?.issues[0]?.message).toContain(problem);
  });
});
