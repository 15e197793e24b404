import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { API } from "./comfyui-graphs";
import { startScripted, type Script, type ScriptedService } from "./server";

/** The command line's output for scripted responses. */

const PROGRAM = join(__dirname, "..", "..", "client", "bin", "nodeloom.cjs");

let service: ScriptedService;
afterEach(() => service.stop());

const start = async (args: string[], ...script: Script[]): Promise<ChildProcessWithoutNullStreams> => {
  service = await startScripted(...script);
  const env = { ...process.env, NODELOOM_BASE_URL: service.baseUrl, NODELOOM_API_KEY: "nl_key" };
  return spawn(process.execPath, [PROGRAM, ...args], { env });
};
const printed = async (child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; stdout: string }> => {
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout };
};

it("lists each run of the usage with its models", async () => {
  const rows = [
    { createdAt: "2026-11-28T10:00:00Z", modelIds: ["sandbox-image", "sandbox-chat"], status: "completed", creditsCost: 4 },
    { createdAt: "2026-11-28T09:00:00Z", modelIds: [], status: "failed", creditsCost: 0 },
  ];
  const { code, stdout } = await printed(await start(["usage"], { status: 200, json: { rows } }));
  expect({ code, lines: stdout.split("\n").map((line) => line.split(/ {2,}/)) }).toEqual({
    code: 0,
    lines: [
      ["createdAt", "modelIds", "status", "creditsCost"],
      ["2026-11-28T10:00:00Z", "sandbox-image, sandbox-chat", "completed", "4"],
      ["2026-11-28T09:00:00Z", "failed", "0"],
      [""],
    ],
  });
});

it("gives scripts the cost and duration of a run", async () => {
  const executionId = "00000000-0000-4000-8000-000000000000";
  const settled = `data: ${JSON.stringify({ type: "settled", at: "2026-11-28T10:00:00Z", data: {} })}\n\n`;
  const events: Script = { status: 200, headers: { "content-type": "text/event-stream" }, text: `id: 1\n${settled}` };
  const execution = { executionId, status: "completed", result: { text: "x" }, creditsCost: 1.5, durationMs: 20 };
  const { stdout } = await printed(await start(["--json", "watch", executionId], events, { status: 200, json: execution }));
  expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toEqual({ executionId, result: { text: "x" }, cost: 1.5, ms: 20 });
});

it("promotes the version of another alias, and a version by its number", async () => {
  const listed = [
    { name: "production", version: 2, isDefault: false },
    { name: "staging", version: 3, isDefault: false },
  ];
  const moved = { status: 200, json: { name: "production", version: 3 } };
  const { code, stdout } = await printed(await start(["promote", "poster", "--from", "staging"], { status: 200, json: listed }, moved));
  expect({ code, stdout }).toEqual({ code: 0, stdout: "3\n" });
  expect(service.received.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["GET", "/api/workflows/poster/aliases", ""],
    ["PUT", "/api/workflows/poster/aliases/production", '{"version":3}'],
  ]);
  await service.stop();
  const { code: refused } = await printed(await start(["promote", "poster"]));
  expect(refused).toBe(2);
});

it("ends without an error when its reader stops early, as `head` does", async () => {
  const models = Array.from({ length: 20_000 }, (_, index) => ({ internalName: `model-${index}`, modality: "image", status: "ready" }));
  const child = await start(["models"], { status: 200, json: models });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = (await once(child, "exit")) as [number | null];
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

it("creates a workflow from a ComfyUI file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "comfyui-"));
  try {
    const file = join(folder, "Harbour.json");
    await writeFile(file, JSON.stringify(API));
    const child = await start(["workflows", "import", file], { status: 200, json: [] }, { status: 201, json: { slug: "harbour" } });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    expect((await printed(child)).code).toBe(0);
    expect(stderr).toContain("created harbour. Imported from ComfyUI: 7 nodes became 3 here.");
    const sent = JSON.parse(service.received[1]!.body) as { name: string; nodes: { type: string }[] };
    expect(sent.name).toBe("Harbour");
    expect(sent.nodes.map(({ type }) => type)).toContain("generate-image");
  } finally {
    await rm(folder, { recursive: true });
  }
});
