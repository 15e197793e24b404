import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  answeringMs,
  createGrpcClient,
  defineService,
  grpcService,
  addressVariables,
  listenVariable,
  integer,
  runProcess,
  startGrpcServer,
} from "@nodeloom/platform";
import { media as mediaProto, transform } from "@nodeloom/proto";
import { z } from "zod";
import { defaultConcurrency } from "./bounds";
import { openFolders } from "./calls/folders";
import { createMeasure } from "./calls/measure";
import { createPreview } from "./calls/preview";
import { createRun } from "./calls/run";
import { networkIsolation } from "./children/isolation";
import { createPool } from "./children/pool";
import { findFfmpeg } from "./ffmpeg/program";
import { imageVersion } from "./image-version";
import { watchPool } from "./meters";
import { transformHandlers } from "./server";

/** Path of the compiled child program. */
const PROGRAM = join(__dirname, "..", "dist", "work", "main.js");

/** Runs file operations in separate processes within bounds. */
export const service = defineService({
  name: "transform",
  variables: {
    ...listenVariable("transform"),
    ...addressVariables("transform"),
    TRANSFORM_DIR: z.string().default(join(tmpdir(), "nodeloom-transform")).describe("folder for the files of running operations"),
    TRANSFORM_CONCURRENCY: integer(1).optional().describe("operations that run at the same time. Default: the number of cores"),
    FFMPEG_PATH: z.string().optional().describe("path of ffmpeg. Default: the one on PATH, or else the downloaded one"),
    NODELOOM_CACHE_DIR: z.string().optional().describe("folder for downloads. Default: ~/.cache/nodeloom"),
    LOCAL_MODELS_DIR: z.string().optional().describe("folder for downloads of the local models, which can contain ffmpeg"),
  },
  start: async ({ config, logger }) => {
    const isolation = await networkIsolation();
    if (isolation.length === 0) logger.info("operations have no network namespace of their own: this machine does not allow it");
    const folders = await openFolders(config.TRANSFORM_DIR);
    const pool = createPool({ program: PROGRAM, isolation, concurrency: config.TRANSFORM_CONCURRENCY ?? defaultConcurrency() });
    const media = createGrpcClient<mediaProto.MediaServiceServer>(mediaProto.MediaServiceService, {
      address: config.MEDIA_ADDRESS,
      tls: config,
    });
    const endWatch = watchPool(pool);
    const ffmpeg = findFfmpeg(config);
    const calls = { media, pool, folders, ffmpeg };
    const handlers = transformHandlers({
      run: createRun(calls),
      preview: createPreview(calls),
      measure: createMeasure(calls),
      ffmpeg,
      imageVersion,
    });
    const services = [grpcService(transform.TransformServiceService, handlers)];
    // Callers retry interrupted operations on another process.
    const grpc = await startGrpcServer({ listen: config.TRANSFORM_LISTEN, services, logger, tls: config, graceMs: answeringMs(config) });
    return {
      ports: { TRANSFORM_LISTEN: grpc.port },
      stop: async () => {
        await grpc.stop();
        endWatch();
        await pool.stop();
        await folders.stop();
        media.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
