import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const MAIN = join(__dirname, "../../src/main.ts");
const RUN_TYPESCRIPT = join(__dirname, "../../../../test-support/typescript.cjs");

export interface BillingProcess {
  /** Kills the process like a power failure. */
  kill(): Promise<void>;
}

/** Billing in a separate process; resolves when it is ready. */
export const startProcess = async (env: Record<string, string>): Promise<BillingProcess> => {
  const child: ChildProcess = spawn(process.execPath, ["-r", RUN_TYPESCRIPT, MAIN], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  await Promise.race([
    once(child, "message"),
    exited.then(([code]) => {
      throw new Error(`billing ended with ${String(code)} before it was ready`);
    }),
  ]);
  return {
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
};
