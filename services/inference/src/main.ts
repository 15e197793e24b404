import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  assetsFolders,
  createEgressClient,
  defineService,
  listenVariable,
  integer,
  runProcess,
  startHttpServer,
  variables,
} from "@nodeloom/platform";
import { z } from "zod";
import { createInference } from "./app";
import type { FileSources } from "./inputs";
import { defaultThreads } from "./models";

/** Time for which a shutdown waits for running requests. */
const GRACE_MS = 2_000;
const MINUTE_MS = 60_000;

const hostOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
};

const trimmed = (url: string): string => url.replace(/(?<!\/)\/+$/, "");

/** Only the platform's own files can have a private address. */
const sourcesOf = (publicBaseUrl: string, mediaUrl: string): FileSources & { close(): Promise<void> } => {
  const own = createEgressClient({ allow: [hostOf(mediaUrl)] });
  const other = createEgressClient();
  return {
    own: { prefix: `${trimmed(publicBaseUrl)}/media/`, base: `${trimmed(mediaUrl)}/media/`, client: own },
    other,
    close: async () => {
      await Promise.all([own.close(), other.close()]);
    },
  };
};

/** Local models as an HTTP service. It starts one process per model on first use. */
export const service = defineService({
  name: "inference",
  variables: {
    ...listenVariable("inference"),
    INFERENCE_API_KEY: z.string().default("inference").describe("key that the local models expect from callers"),
    INFERENCE_DATA_DIR: z
      .string()
      .default(join(tmpdir(), "nodeloom-inference"))
      .describe("folder for jobs and outputs of the local models"),
    NODELOOM_CACHE_DIR: z.string().optional().describe("folder for downloads. Default: ~/.cache/nodeloom"),
    LOCAL_MODELS_DIR: z
      .string()
      .optional()
      .describe(
        "folder of models that are there already, which is only read: GGUF files of text models in `chat`, a model of images in `pictures`, fetched ones in `local-models`",
      ),
    INFERENCE_CONCURRENCY: integer(1).default(2).describe("local models that are loaded and run at the same time"),
    INFERENCE_THREADS: integer(1).optional().describe("threads of a local model. Default: half of the machine's, at most 4"),
    INFERENCE_GPU: z
      .enum(["off", "cuda"])
      .default("off")
      .describe("processor of the models: cuda is an NVIDIA GPU, and needs an image with CUDA's libraries"),
    INFERENCE_IDLE_MINUTES: integer(1).default(5).describe("minutes without a request before a local model is unloaded"),
    PUBLIC_BASE_URL: variables.PUBLIC_BASE_URL,
    MEDIA_HTTP_URL: z.url().default("http://127.0.0.1:8081").describe("HTTP address of media, for stored files among the inputs"),
  },
  start: async ({ config, logger }) => {
    const sources = sourcesOf(config.PUBLIC_BASE_URL, config.MEDIA_HTTP_URL);
    const { app, stop } = await createInference({
      apiKey: config.INFERENCE_API_KEY,
      dataDirectory: config.INFERENCE_DATA_DIR,
      assetsRoots: assetsFolders(config),
      ownFolder: config.LOCAL_MODELS_DIR,
      sources,
      concurrency: config.INFERENCE_CONCURRENCY,
      threads: config.INFERENCE_THREADS ?? defaultThreads(),
      gpu: config.INFERENCE_GPU === "off" ? undefined : config.INFERENCE_GPU,
      idleMs: config.INFERENCE_IDLE_MINUTES * MINUTE_MS,
      report: (error) => logger.error({ err: error }, "request failed"),
    });
    const server = await startHttpServer({ listen: config.INFERENCE_LISTEN, app, graceMs: GRACE_MS });
    logger.info({ port: server.port, dataDirectory: config.INFERENCE_DATA_DIR }, "local models are served");
    return {
      ports: { INFERENCE_LISTEN: server.port },
      drain: server.drain,
      stop: async () => {
        await Promise.all([server.stop(), stop()]);
        await sources.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
