import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRecorder } from "../../../test-support/recorder";
import { isHosted, readEntries } from "../models/requests";
import { compare, unexplained, type Finding } from "../models/watch/compare";
import type { PricedEntry } from "../models/watch/price";
import { readOffers } from "../models/watch/sources";

const RECORDED = join(__dirname, "registry-watch");
const ROOT = join(__dirname, "..", "..", "..");
const PROGRAM = ["--require", "./deploy/drills/support/typescript.cjs", "deploy/drills/models/watch/run.ts"];
/** Models of the recorded files before the changes that the test expects. */
const SEEN = [
  "anthropic claude-sonnet-5-5",
  "openai gpt-6-luna",
  "fal fal-ai/nano-banana-2",
  "fal fal-ai/veo3.1",
  "fal fal-ai/flux-2-pro",
  "runway gen4.5",
];
const entries = readEntries().filter(isHosted) as PricedEntry[];
const allFindings = compare({ entries, offers: readOffers(RECORDED), earlierLines: new Set(SEEN) });
const changes = (findings: readonly Finding[]) => findings.map(({ change, model, text }) => [change, model, text]);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "registry-watch-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const watch = (
  from: string,
  seenIds: readonly string[],
  args: readonly string[] = [],
): Promise<{ code: number; output: string; errors: string }> => {
  const list = join(folder, "seen.txt");
  writeFileSync(list, seenIds.join("\n"));
  return new Promise((resolve) => {
    execFile(process.execPath, [...PROGRAM, "--from", from, "--seen", list, "--accept", ...args], { cwd: ROOT }, (error, output, errors) =>
      resolve({ code: error ? Number(error.code) : 0, output, errors }),
    );
  });
};

it("finds a retiring, a dearer, a cheaper, a renamed and a new model, and no other difference", () => {
  expect(changes(allFindings)).toEqual([
    ["retiring", "gpt-6-luna", "on 2027-06-30, the registry has no day"],
    ["dearer", "claude-sonnet-5-5", "$12 per million output tokens, in the registry $10"],
    ["cheaper", "nano-banana-2", "$0.1 per image, 2K, in the registry $0.12"],
    ["renamed", "flux-2-pro", "fal-ai/flux-2-pro is no longer listed; blackforestlabs/flux-2-pro is new"],
    ["new", "blackforestlabs/flux-2-pro", ""],
    ["new", "gpt-7", ""],
  ]);
});

it("accepts an explained difference until it changes", () => {
  const explanation = { ...allFindings[1]!, why: "a discount that ends" };
  expect(changes(unexplained(allFindings, [explanation]))).not.toContainEqual(changes(allFindings)[1]);
  expect(unexplained(allFindings, [{ ...explanation, text: "$11 per million output tokens, in the registry $10" }])).toEqual(allFindings);
});

it("prints each difference and exits with 1, and with 2 if a source lists nothing", async () => {
  const { code, output } = await watch(RECORDED, SEEN);
  expect(code).toBe(1);
  for (const { change, model, text } of allFindings)
    expect(output).toMatch(new RegExp(`^${change} .* ${model}.*${text.replaceAll(/[$.]/g, "\\$&")}`, "m"));
  expect(readFileSync(join(folder, "seen.txt"), "utf8").split("\n")).toContain("openai gpt-7");

  const broken = join(folder, "broken");
  cpSync(RECORDED, broken, { recursive: true });
  writeFileSync(join(broken, "fal", "src", "types", "endpoints.d.ts"), "export {};\n");
  expect(await watch(broken, SEEN)).toMatchObject({ code: 2, errors: expect.stringContaining("fal: no models were found") });
});

/** Nodes as ComfyUI lists them. An input's choices have three forms. */
const NODES = {
  KSampler: { python_module: "nodes", input: { required: { model: ["MODEL", {}] } } },
  KlingTextToVideo: {
    python_module: "comfy_api_nodes.nodes_kling",
    api_node: true,
    input: { required: { prompt: ["STRING", {}], model_name: [["kling-v3", "kling-v4"], {}] } },
  },
  GeminiImage: {
    python_module: "comfy_api_nodes.nodes_gemini",
    api_node: true,
    input: { required: { model: ["COMBO", { options: ["nano-banana-9"] }] } },
  },
  Tripo: {
    python_module: "comfy_api_nodes.nodes_tripo",
    api_node: true,
    input: { optional: { model_version: ["COMFY_DYNAMICCOMBO_V3", { options: [{ key: "v4.0", inputs: {} }] }] } },
  },
  Old: { python_module: "comfy_api_nodes.nodes_old", api_node: true, deprecated: true, input: { required: { model: [["old-1"], {}] } } },
};

it("lists the models of a ComfyUI's partner nodes that the registry lacks, until they are accepted", async () => {
  const server = await startRecorder((response, { path }) =>
    response.writeHead(path === "/object_info" ? 200 : 404).end(JSON.stringify(NODES)),
  );
  const comfyui = ["--comfyui", server.url];
  try {
    const { output } = await watch(RECORDED, SEEN, comfyui);
    expect(output.match(/comfyui {2}\S+/g)).toEqual(["comfyui  gemini/nano-banana-9", "comfyui  kling/kling-v4", "comfyui  tripo/v4.0"]);
    const accepted = () => readFileSync(join(folder, "seen.txt"), "utf8").split("\n");
    expect((await watch(RECORDED, accepted())).output).not.toMatch(/comfyui/);
    expect((await watch(RECORDED, accepted(), comfyui)).output).not.toMatch(/comfyui/);
  } finally {
    await server.close();
  }
  expect(await watch(RECORDED, SEEN, comfyui)).toMatchObject({ code: 2, errors: expect.stringContaining("comfyui: the node list of") });
});
