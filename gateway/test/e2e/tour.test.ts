import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientOf } from "../../../test-support/client";
import { freePort } from "../../../deploy/local/servers/ports.cjs";
import { startPlatform, type Platform } from "../../../test-support/platform";

const ROOT = join(__dirname, "..", "..", "..");
const TOUR = join(ROOT, "docs", "guide", "tour.md");
const TOUR_MS = 170_000;

interface Step {
  title: string;
  commands: string;
}

/** Steps of the tour: each heading with `sh tour` blocks, and their commands. */
const tourSteps = (): Step[] =>
  readFileSync(TOUR, "utf8")
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf("\n")),
      commands: [...section.matchAll(/^```sh tour\n([\s\S]*?)^```$/gm)].map(([, block]) => block!).join(""),
    }))
    .filter(({ commands }) => commands !== "");

/**
 * Runs the steps in one shell, as if a reader pasted them.
 * @returns the output of each step
 */
const follow = async (steps: readonly Step[], folder: string, env: Record<string, string>): Promise<Map<string, string>> => {
  const script = steps.map(({ title, commands }) => `printf '\\n### %s\\n' '${title}'\n${commands}`).join("\n");
  const shell = spawn("bash", ["-c", `set -eo pipefail\n${script}`], { cwd: folder, env: { ...process.env, ...env }, timeout: TOUR_MS });
  let output = "";
  let errors = "";
  shell.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  shell.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => shell.once("close", resolve));
  if (code !== 0) throw new Error(`the tour ended with ${code}:\n${output}\n${errors}`);
  return new Map(
    output
      .split(/^### /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n") + 1)]),
  );
};

describe("the five-minute tour", () => {
  let platform: Platform;
  let folder: string;
  let receiver: string;
  const steps = tourSteps();
  let printed: Map<string, string>;

  beforeAll(async () => {
    receiver = `127.0.0.1:${await freePort()}`;
    platform = await startPlatform({ allow: [receiver] });
    const { email, password, userId, key } = await clientOf(platform).account({ tier: "business" });
    folder = mkdtempSync(join(tmpdir(), "nodeloom-tour-"));
    mkdirSync(join(folder, ".nodeloom"));
    const local = { baseUrl: platform.baseUrl, accounts: { business: { email, password, userId, apiKey: key } } };
    writeFileSync(join(folder, ".nodeloom", "local.json"), JSON.stringify(local));
    for (const name of ["docs", "node_modules"]) symlinkSync(join(ROOT, name), join(folder, name));
    printed = await follow(steps, folder, { RECEIVER: receiver });
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each<[string, ...(string | RegExp)[]]>([
    ["Check your key", "tier: 'business'", "approved: true"],
    ["Build a workflow", /^postcards$/m],
    ["Read its schema", "name: 'subject'", "default: 'a paper boat'", /estimatedCreditCost: [\d.]+/],
    ["Get a quote", "estimatedCreditCost: 6.5,", "model: 'sandbox-image'", "grant: true"],
    ["Run it and wait", "success: true", "cost: 6.5", /videos: \[\s*\{\s*url: 'http/, "200 image/png"],
    ["Run it in the background", "status: 'completed'", "workflowSlug: 'postcards'", "creditsCost: 22.1"],
    ["Follow its events", "event: admitted", "event: submitted", "event: node.completed", "event: settled"],
    ["Run a model and cancel it", "status: 'cancel_requested'", /^cancelled$/m],
    ["See your usage", "source: 'api-slim'", "source: 'api-workflow'", "total: 3"],
    ["Verify a webhook", "'webhook:receive'", "configured: true", "signature is right: execution.completed of "],
    [
      "Use the typed client",
      "tier: business",
      "fields: [ 'subject', 'seconds' ]",
      /price: [\d.]+/,
      /images: 2 videos: 1 cost: [\d.]+/,
      /(event: .+\n)+event: settled\nstatus: completed/,
      "cancel: cancel_requested\nthen: cancelled",
      "variation: 1",
      "true 404 MODEL_NOT_FOUND",
      /runs so far: \d+/,
    ],
    ["Clean up", /^204\n204$/m],
  ])("%s: works as described", (title, ...facts) => {
    for (const fact of facts) expect(printed.get(title)).toMatch(fact);
  });

  it("has no untested step", () => {
    expect([...printed.keys()]).toEqual(steps.map(({ title }) => title));
    expect(steps).toHaveLength(12);
  });
});
