import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { callAt, createFolder, waitForEnd, removeFolder, withEngines } from "./support/inference";
import { freePort } from "../../../deploy/local/servers/ports.cjs";

/** The service in a separate process that the test can kill. Resolves when the process is ready. */
const startProcess = async (folder: string, port: number): Promise<ChildProcess> => {
  const program = [
    "-r",
    join(__dirname, "../../../test-support/typescript.cjs"),
    join(__dirname, "support/serve.ts"),
    folder,
    String(port),
  ];
  const child = spawn(process.execPath, program, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const early = once(child, "exit").then(([code]) => Promise.reject(new Error(`the process ended with ${String(code)}`)));
  await Promise.race([once(child, "message"), early]);
  early.catch(() => undefined);
  return child;
};

const kill = async (child: ChildProcess): Promise<void> => {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
};

describe("a service that is killed repeatedly during fifty jobs, together with its models", () => {
  it("loses none and runs none twice at once: each ends with its file", async () => {
    const folder = createFolder();
    const engines = withEngines(join(folder, "assets"));
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    let child = await startProcess(folder, port);
    const submit = (index: number) => {
      const model = index % 2 === 0 ? "local-speech" : "local-music";
      return callAt(base, "POST", "/v1/jobs", { model, input: { prompt: `job ${index}` } }, { "idempotency-key": `key ${index}` });
    };
    try {
      const ids: unknown[] = [];
      for (let index = 0; index < 50; index++) {
        ids.push((await submit(index)).json.id);
        if (index % 10 === 5) {
          // A job is attempted at most five times, so no job may survive more of these crashes.
          for (const before of ids.slice(-12, -10)) await waitForEnd(base, before);
          const { loaded } = (await callAt(base, "GET", "/v1/stats")).json as { loaded: Record<string, number> };
          for (const pid of Object.values(loaded)) process.kill(pid, "SIGKILL");
        }
        if (index % 20 !== 19) continue;
        await kill(child);
        child = await startProcess(folder, port);
      }
      for (const [index, id] of ids.entries()) {
        expect((await submit(index)).json.id).toBe(id);
        const job = await waitForEnd(base, id);
        expect({ status: job.status, error: job.error }).toEqual({ status: "succeeded" });
        const [{ url }] = (job.output as { audios: [{ url: string }] }).audios;
        expect(await (await fetch(url)).text()).toBe(`sound of job ${index}`);
      }
      const startedRequests = readFileSync(join(engines, "requests"), "utf8").trim().split("\n");
      expect(new Set(startedRequests).size).toBe(50);
    } finally {
      await kill(child);
      removeFolder(folder);
    }
  });
});
