import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openJobs } from "../src/jobs";
import { API_KEY, callAt, createFolder, removeFolder, type Answer } from "./support/sandbox";
import { freePort } from "../../../deploy/local/servers/ports.cjs";

/** The real process from source. Resolves when it is ready. */
const startProcess = async (port: number, dataDirectory: string): Promise<ChildProcess> => {
  const child = spawn(
    process.execPath,
    ["-r", join(__dirname, "../../../test-support/typescript.cjs"), join(__dirname, "../src/main.ts")],
    {
      env: {
        ...process.env,
        SANDBOX_LISTEN: `127.0.0.1:${port}`,
        SANDBOX_API_KEY: API_KEY,
        SANDBOX_DATA_DIR: dataDirectory,
        LOG_LEVEL: "error",
      },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    },
  );
  const early = once(child, "exit").then(([code]) => Promise.reject(new Error(`the process ended with ${String(code)}`)));
  await Promise.race([once(child, "message"), early]);
  early.catch(() => undefined);
  return child;
};

const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> => {
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
};

describe("a sandbox that is killed and restarted", () => {
  it("keeps its jobs, their keys, cancellations and every file", async () => {
    const folder = createFolder();
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const submit = (prompt: string): Promise<Answer> =>
      callAt(base, "POST", "/v1/jobs", { kind: "video", prompt, seconds: 1 }, { "idempotency-key": prompt });
    let child = await startProcess(port, folder);
    try {
      const [keptJob, cancelled] = [await submit("kept"), await submit("cancelled")];
      await callAt(base, "POST", `/v1/jobs/${String(cancelled.at("id"))}/cancel`);
      await end(child, "SIGKILL");

      child = await startProcess(port, folder);
      expect((await submit("kept")).at("id")).toBe(keptJob.at("id"));
      expect((await callAt(base, "GET", `/v1/jobs/${String(cancelled.at("id"))}`)).at("status")).toBe("cancelled");
      const poll = (): Promise<Answer> => callAt(base, "GET", `/v1/jobs/${String(keptJob.at("id"))}`);
      let polled = await poll();
      while (polled.at("status") === "running" || polled.at("status") === "queued") polled = await poll();
      const url = String(polled.at("output.videos.0.url"));
      const first = Buffer.from(await (await fetch(url)).arrayBuffer());
      await end(child, "SIGKILL");

      child = await startProcess(port, folder);
      const second = Buffer.from(await (await fetch(url)).arrayBuffer());
      expect(second.equals(first)).toBe(true);
      expect(await end(child, "SIGTERM")).toBe(0);
    } finally {
      if (child.exitCode === null && child.signalCode === null) await end(child, "SIGKILL");
      removeFolder(folder);
    }
  });
});

describe("the journal", () => {
  const input = { prompt: "x", count: 1 };
  let folder: string;
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(() => removeFolder(folder));

  it("loses only a line that a crash truncated", () => {
    const before = openJobs(folder, () => 1_000);
    const job = before.submit({ dialect: "jobs", generator: "sandbox-image", input });
    appendFileSync(join(folder, "jobs.jsonl"), '{"id":"half');
    const after = openJobs(folder, () => 2_000);
    const later = after.submit({ dialect: "jobs", generator: "sandbox-image", input });
    const last = openJobs(folder, () => 3_000);
    expect(last.poll("jobs", job.id)?.state.status).toBe("succeeded");
    expect(last.poll("jobs", later.id)?.state.status).toBe("succeeded");
    expect(last.heldCount()).toBe(2);
  });

  it("keeps no entries beyond their retention, and no text of a prompt", () => {
    const before = openJobs(folder, () => 0);
    before.submit({ dialect: "jobs", generator: "sandbox-image", input: { prompt: "a private prompt", count: 1 } });
    expect(readFileSync(join(folder, "jobs.jsonl"), "utf8")).not.toContain("private");
    expect(openJobs(folder, () => 24 * 3_600_000).heldCount()).toBe(0);
    expect(readFileSync(join(folder, "jobs.jsonl"), "utf8")).toBe("");
  });
});
