import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { service } from "@nodeloom/sandbox";

export const SANDBOX_KEY = "sandbox";

/** Starts the sandbox with a folder of its own. */
export const startSandbox = async () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-sandbox-"));
  const sandbox = await service.start({
    ...{ SANDBOX_LISTEN: "127.0.0.1:0", SANDBOX_DATA_DIR: folder, LOG_LEVEL: "silent" },
    ...{ SANDBOX_API_KEY: SANDBOX_KEY, SANDBOX_CONTROL_KEY: SANDBOX_KEY },
  });
  const address = `127.0.0.1:${sandbox.ports!.SANDBOX_LISTEN}`;
  return {
    address,
    url: `http://${address}`,
    stop: async () => {
      await sandbox.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export type RunningSandbox = Awaited<ReturnType<typeof startSandbox>>;
