import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEgressClient, defineService, listenVariable, runProcess, startHttpServer } from "@nodeloom/platform";
import { z } from "zod";
import { createSandbox } from "./app";

/** Time for which a shutdown waits for requests with a `hang` fault. */
const GRACE_MS = 2_000;

/** A fake AI provider as an HTTP process. It contains no AI model. */
export const service = defineService({
  name: "sandbox",
  variables: {
    ...listenVariable("sandbox"),
    SANDBOX_API_KEY: z.string().default("sandbox").describe("key the sandbox provider expects from callers"),
    SANDBOX_CONTROL_KEY: z
      .string()
      .optional()
      .describe("key for the sandbox provider's control routes (faults, statistics). Without it, they are closed"),
    SANDBOX_DATA_DIR: z.string().default(join(tmpdir(), "nodeloom-sandbox")).describe("folder of the sandbox provider's job journal"),
  },
  start: async ({ config, logger }) => {
    const egress = createEgressClient();
    const app = createSandbox({
      egress,
      apiKey: config.SANDBOX_API_KEY,
      controlKey: config.SANDBOX_CONTROL_KEY,
      dataDirectory: config.SANDBOX_DATA_DIR,
      report: (error) => logger.error({ err: error }, "request failed"),
    });
    const server = await startHttpServer({ listen: config.SANDBOX_LISTEN, app, graceMs: GRACE_MS });
    logger.info({ port: server.port, dataDirectory: config.SANDBOX_DATA_DIR }, "sandbox provider listens");
    return {
      ports: { SANDBOX_LISTEN: server.port },
      drain: server.drain,
      stop: async () => {
        await server.stop();
        await egress.close();
      },
    };
  },
});

if (require.main === module) void runProcess([service]);
