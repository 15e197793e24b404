import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { API } from "./comfyui-graphs";
import { leavesOf } from "../../client/src/cli/command";
import { EXAMPLES } from "../../client/src/cli/examples";
import { createProgram } from "../../client/src/cli/program";
import { startScripted, type Script, type ScriptedService } from "./server";

/** The command line's output for scripted responses. */

const PROGRAM = join(__dirname, "..", "..", "client", "bin", "nodeloom.cjs");

let service: ScriptedService | undefined;
afterEach(() => service?.stop());

const start = async (args: string[], ...script: Script[]): Promise<ChildProcessWithoutNullStreams> => {
  await service?.stop();
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
const LEAVES = leavesOf(createProgram());

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

it("lists the runs of one customer", async () => {
  const { code } = await printed(await start(["executions", "list", "--metadata", "customer=acme"], { status: 200, json: { rows: [] } }));
  expect({ code, paths: service!.received.map(({ path }) => path) }).toEqual({
    code: 0,
    paths: ["/api/executions?limit=20&metadata.customer=acme"],
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

it("prints the price of a run, and runs nothing", async () => {
  const schema = { status: 200, json: { fields: [{ name: "subject", type: "text" }] } };
  const quote = { status: 200, json: { estimatedCreditCost: 2, maxCreditCost: 4, exact: false, nodes: [], grants: [], warnings: [] } };
  const words = ["run", "poster", "--quote", "subject=a boat"];
  expect(await printed(await start(words, schema, quote))).toEqual({ code: 0, stdout: "about 2 credits, at most 4 credits\n" });
  expect(service!.received.map(({ path }) => path)).toEqual(["/api/workflows/poster/schema", "/api/workflows/poster/quote"]);
  await service!.stop();
  const { stdout } = await printed(await start(["--json", ...words], schema, quote));
  expect(JSON.parse(stdout)).toMatchObject({ estimatedCreditCost: 2, maxCreditCost: 4, exact: false });
});

it("prints each problem of a request once", async () => {
  const issues = [{ path: "inputs.subject", message: "is required" }];
  const json = { error: "inputs.subject: is required", code: "INVALID_INPUTS", issues };
  const child = await start(["run", "poster"], { status: 200, json: { fields: [] } }, { status: 400, json });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  expect((await printed(child)).code).toBe(3);
  expect(stderr).toBe("inputs.subject: is required (INVALID_INPUTS)\n");
});

it("promotes the version of another alias, and a version by its number", async () => {
  const listed = [
    { name: "production", version: 2, isDefault: false },
    { name: "staging", version: 3, isDefault: false },
  ];
  const moved = { status: 200, json: { name: "production", version: 3 } };
  const { code, stdout } = await printed(await start(["promote", "poster", "--from", "staging"], { status: 200, json: listed }, moved));
  expect({ code, stdout }).toEqual({ code: 0, stdout: "3\n" });
  expect(service!.received.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["GET", "/api/workflows/poster/aliases", ""],
    ["PUT", "/api/workflows/poster/aliases/production", '{"version":3}'],
  ]);
  const { code: refusedCode } = await printed(await start(["promote", "poster"]));
  expect(refusedCode).toBe(2);
});

it("starts a canary of the alias's version, and ends it", async () => {
  const listed = { status: 200, json: [{ name: "production", version: 2, isDefault: false }] };
  const answer = { status: 200, json: { name: "production", version: 2 } };
  const words = ["promote", "poster", "--version", "3", "--canary", "10", "--max-credits", "20"];
  const started = await printed(await start(words, listed, answer));
  expect(started).toMatchObject({ code: 0, stdout: "3\n" });
  const canary = { version: 3, percent: 10, minRuns: 50, maxCredits: 20 };
  expect(JSON.parse(service!.received[1]!.body)).toEqual({ version: 2, if: { version: 2 }, canary });
  expect(await printed(await start(["promote", "poster", "--no-canary"], listed, answer))).toMatchObject({ code: 0, stdout: "2\n" });
  expect(JSON.parse(service!.received[1]!.body)).toEqual({ version: 2, if: { version: 2 }, canary: null });
  for (const wrong of [
    ["--no-canary", "--version", "3"],
    ["--version", "3", "--min-runs", "50"],
    ["--canary", "10"],
  ])
    expect(await printed(await start(["promote", "poster", ...wrong]))).toMatchObject({ code: 2 });
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
    const sentWorkflow = JSON.parse(service!.received[1]!.body) as { name: string; nodes: { type: string }[] };
    expect(sentWorkflow.name).toBe("Harbour");
    expect(sentWorkflow.nodes.map(({ type }) => type)).toContain("generate-image");
  } finally {
    await rm(folder, { recursive: true });
  }
});

it("describes each command, with one example and the option --json", () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(LEAVES.map(({ name }) => name).sort());
  for (const { name, command } of LEAVES) {
    expect(command.description()).not.toBe("");
    expect(EXAMPLES[name]).toMatch(new RegExp(`^nodeloom ${name}\\b`));
    expect(command.options.map(({ long }) => long)).toContain("--json");
  }
});

it("takes a version of a workflow after a command, and prints its own before one", async () => {
  const { stdout } = await printed(
    await start(["promote", "poster", "--version", "2"], { status: 200, json: { name: "production", version: 2 } }),
  );
  expect(stdout).toBe("2\n");
  expect(service!.received.map(({ body }) => body)).toEqual(['{"version":2}']);
  expect((await printed(await start(["--version"]))).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it.each([
  ["--json", "models"],
  ["models", "--json"],
])("prints JSON lines with the option before or after the command: %s %s", async (...args) => {
  const models = [{ internalName: "sandbox-image", modality: "image" }];
  const { stdout } = await printed(await start(args, { status: 200, json: models }));
  expect(JSON.parse(stdout)).toEqual(models[0]);
});

describe("completion", () => {
  const complete = (words: string[]): string[] => {
    const script = execFileSync(process.execPath, [PROGRAM, "completion", "bash"], { encoding: "utf8" });
    const call = `COMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length - 1}; _nodeloom; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", `${script}\n${call}`], { encoding: "utf8" })
      .trim()
      .split("\n");
  };

  it("knows commands, those of groups, and the options of each, in bash", () => {
    expect(complete(["nodeloom", "sch"])).toEqual(["schedule"]);
    expect(complete(["nodeloom", "workflows", "pu"])).toEqual(["pull", "push"]);
    expect(complete(["nodeloom", "--json", "promote", "poster", "--f"])).toEqual(["--from"]);
  });

  it.each(["zsh", "fish"])("names every command for %s", (shell) => {
    const script = execFileSync(process.execPath, [PROGRAM, "completion", shell], { encoding: "utf8" });
    for (const { command } of LEAVES) expect(script).toMatch(new RegExp(`\\b${command.name()}\\b`));
  });

  it("names the shells that it knows", async () => {
    expect((await printed(await start(["completion", "csh"]))).code).toBe(2);
  });
});

it("prints the text of a model as it is written, and once", async () => {
  const executionId = "00000000-0000-4000-8000-000000000000";
  const message = (type: string, data: object): string => `data: ${JSON.stringify({ type, at: "2026-11-28T10:00:00Z", data })}\n\n`;
  const delta = (text: string): string => message("node.delta", { nodeId: "model", text });
  const child = await start(
    ["run", "model:sandbox-chat", "prompt=x"],
    { status: 200, json: { inputSchema: { properties: { prompt: { type: "string" } } } } },
    { status: 200, json: { estimatedCreditCost: 1, maxCreditCost: 1, exact: true } },
    { status: 202, headers: { "x-execution-id": executionId }, json: { _async: true, executionId, status: "processing", requestId: null } },
    {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      text: `${delta("Once ")}${delta("upon")}id: 9\n${message("settled", {})}`,
    },
    { status: 200, json: { executionId, status: "completed", result: { text: "Once upon a time" }, creditsCost: 1, durationMs: 20 } },
  );
  const chunks: string[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  await once(child, "close");
  expect(chunks.join("")).toBe("Once upon a time\n");
  expect(chunks.length).toBeGreaterThan(1);
});
