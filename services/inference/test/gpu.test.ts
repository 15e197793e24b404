import { loadChat } from "../src/engines/chat/chat";
import type { EngineContext, Gpu } from "../src/engines/engine";
import { openSession } from "../src/engines/pictures";

/** What engines are asked for with a GPU, and without. */

/** The options with which libraries are called. */
const optionsWith = async (gpu: Gpu | undefined): Promise<{ llama: object; session: object }> => {
  const options = { llama: {}, session: {} };
  const model = { trainContextSize: 1_024, createContext: () => Promise.resolve({}) };
  const libraries: Record<string, object> = {
    "node-llama-cpp": {
      LlamaLogLevel: { error: "error" },
      getLlama: (llama: object) => Promise.resolve({ ...Object.assign(options, { llama }), loadModel: () => Promise.resolve(model) }),
    },
    "onnxruntime-node": {
      InferenceSession: { create: (_model: string, session: object) => Promise.resolve(Object.assign(options, { session })) },
    },
  };
  const context: EngineContext = {
    ...{ gpu, threads: 2, weightsFile: "weights.gguf", weights: (asset) => asset, libraryFile: (_name, file) => file },
    library: <T>(name: string) => Promise.resolve(libraries[name] as T),
  };
  await loadChat(context);
  await openSession(context, "model.onnx");
  return options;
};

it("models run on the CPU unless a GPU is set", async () => {
  const { llama, session } = await optionsWith(undefined);
  expect(llama).toMatchObject({ gpu: false });
  expect(session).toEqual({ intraOpNumThreads: 2, interOpNumThreads: 1 });
});

it("models run on the GPU that is set, and operations that it doesn't have on the CPU", async () => {
  const { llama, session } = await optionsWith("cuda");
  expect(llama).toMatchObject({ gpu: "cuda" });
  expect(session).toMatchObject({ executionProviders: ["cuda", "cpu"] });
});
