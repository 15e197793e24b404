import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineService, grpcService, hostPort, integer, runProcess, startGrpcServer } from "@nodeloom/platform";
import { transform } from "@nodeloom/proto";
import { z } from "zod";
import { transformHandlers } from "./server";

/** Operations on files: each in a process of its own, within bounds. */
export const service = defineService({
  name: "transform",
  variables: {
    TRANSFORM_LISTEN: hostPort().default("127.0.0.1:50058").describe("where the transform service listens"),
    MEDIA_ADDRESS: hostPort().default("127.0.0.1:50057").describe("the media service"),
    TRANSFORM_DIR: z.string().default(join(tmpdir(), "nodeloom-transform")).describe("folder of the files of operations under way"),
    TRANSFORM_CONCURRENCY: integer(1).optional().describe("operations that run at once; as many as the machine has cores without it"),
    FFMPEG_PATH: z.string().optional().describe("ffmpeg; the one on PATH without it, else the one that is fetched"),
    NODELOOM_CACHE_DIR: z.string().optional().describe("folder of what is downloaded; ~/.cache/nodeloom without it"),
  },
  start: async ({ config, logger }) => {
    const services = [grpcService(transform.TransformServiceService, transformHandlers())];
    const grpc = await startGrpcServer({ listen: config.TRANSFORM_LISTEN, services, logger, tls: config });
    return { ports: { TRANSFORM_LISTEN: grpc.port }, stop: grpc.stop };
  },
});

if (require.main === module) void runProcess([service]);
