import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientOf, type Account } from "../../../test-support/client";
import { clip, greeting } from "../../../test-support/graphs";
import { startPlatform, type Platform } from "../../../test-support/platform";

const PROGRAM = join(__dirname, "..", "..", "client", "bin", "nodeloom.cjs");

let platform: Platform;
let http: ReturnType<typeof clientOf>;
let user: Account;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-cli-"));
  platform = await startPlatform();
  http = clientOf(platform);
  user = await http.account({ tier: "business" });
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

const start = (args: string[], env: NodeJS.ProcessEnv = {}): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: { ...process.env, NODELOOM_BASE_URL: platform.baseUrl, NODELOOM_API_KEY: user.key, XDG_CONFIG_HOME: folder, ...env },
  });
interface ExitResult {
  code: number | null;
  stdout: string;
  stderr: string;
}
const outcome = async (child: ChildProcessWithoutNullStreams): Promise<ExitResult> => {
  const texts = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) child[stream].on("data", (chunk: Buffer) => (texts[stream] += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...texts };
};
const nodeloom = (...args: string[]): Promise<ExitResult> => outcome(start(args));
const save = async (workflow: object): Promise<string> =>
  ((await http.call("POST", "/api/workflows", { key: user.key, body: workflow })).body as unknown as { slug: string }).slug;

it("runs a model, shows price and progress, and saves its file", async () => {
  const { code, stdout, stderr } = await nodeloom("run", "model:sandbox-image", "prompt=a boat", "count=1", "-o", "boat.png");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "boat.png\n" });
  // Trial runs pay for the run.
  expect(stderr).toMatch(/^0 credits\nexecution [0-9a-f-]{36}\n.*model completed in .*\ncompleted in .* s, 0 credits\n$/s);
  expect((await readFile(join(folder, "boat.png"))).subarray(1, 4).toString()).toBe("PNG");
  const again = await nodeloom("run", "model:sandbox-image", "prompt=at night", "image=@boat.png", "count=2", "-o", "night/");
  expect(again.stdout).toBe("night/images-1.png\nnight/images-2.png\n");
  expect((await stat(join(folder, "night", "images-2.png"))).size).toBeGreaterThan(100);
});

it("runs a workflow with inputs by their fields' types, and prints its text; as JSON lines for scripts", async () => {
  const slug = await save(greeting());
  expect(await nodeloom("run", slug, "prompt=Ada")).toMatchObject({ code: 0, stdout: "Hello Ada\n" });
  const lines = (await nodeloom("--json", "run", slug, "prompt=Ada")).stdout.trim().split("\n");
  const events = lines.map((line) => JSON.parse(line) as { event?: string; result?: unknown });
  expect(events.at(-1)).toMatchObject({ result: { text: "Hello Ada" }, cost: 0, ms: expect.any(Number) as number });
  expect(events.map(({ event }) => event)).toContain("settled");
});

it("cancels its run when it is interrupted, and prints the result", async () => {
  const slug = await save(clip({ latencyMs: 600_000 }));
  const child = start(["run", slug]);
  const outcomeOfRun = outcome(child);
  const isSubmitted = new Promise<void>((resolve) => child.stderr.on("data", (chunk: Buffer) => chunk.includes("submitted") && resolve()));
  await Promise.race([isSubmitted, outcomeOfRun]);
  child.kill("SIGINT");
  expect(await outcomeOfRun).toMatchObject({ code: 130, stderr: expect.stringContaining("cancel_requested") as string });
  const { body } = await http.call("GET", "/api/executions?limit=1", { key: user.key });
  expect((body.rows as { status: string }[])[0]!.status).toMatch(/^cancel/);
});

it("keeps workflows as files that are returned byte for byte, and never overwrites others' changes", async () => {
  const nodes = '[ {"id":"t","type":"text-box","position":{"x":1e2,"y":0.50},"data":{"text":"ä \\u00e4","unknown":null}} ]';
  const response = await fetch(`${platform.baseUrl}/api/workflows`, {
    method: "POST",
    headers: { "x-api-key": user.key!, "content-type": "application/json" },
    body: `{"name":"By hand","nodes":${nodes},"edges":[]}`,
  });
  const { slug } = (await response.json()) as { slug: string };
  const file = join(folder, "flows", `${slug}.json`);
  expect(await nodeloom("workflows", "pull", slug, "-d", "flows")).toMatchObject({ code: 0 });
  const pulled = await readFile(file, "utf8");
  expect(pulled).toContain(`"nodes": ${nodes}`);
  expect(await nodeloom("workflows", "diff", file)).toMatchObject({ code: 0, stdout: "" });

  await writeFile(file, pulled.replace("0.50", "0.75"));
  expect(await nodeloom("workflows", "diff", file)).toMatchObject({ code: 1, stdout: expect.stringMatching(/nodes +~t/) as string });
  expect(await nodeloom("workflows", "push", file)).toMatchObject({ code: 0 });
  await nodeloom("workflows", "pull", slug, "-d", "flows");
  expect(await readFile(file, "utf8")).toBe(pulled.replace("0.50", "0.75"));

  await http.call("PUT", `/api/workflows/${slug}`, { key: user.key, body: { description: "by somebody else" } });
  const result = await nodeloom("workflows", "push", file);
  expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining("has changed since it was pulled") as string });
  expect(await nodeloom("workflows", "push", "--force", file)).toMatchObject({ code: 0 });
});

it("exports workflows with their inner ones, and deploys them with a plan, unless they were edited", async () => {
  const inner = await save({ ...greeting(), name: "Inner to deploy" });
  const nodes = [
    { id: "w", type: "workflow", position: { x: 0, y: 0 }, data: { slug: inner, inputs: { prompt: "Ada" } } },
    { id: "out", type: "response-output", position: { x: 1, y: 0 }, data: {} },
  ];
  const edges = [{ id: "e", source: "w", sourceHandle: "text", target: "out", targetHandle: "text" }];
  const outer = await save({ name: "Outer to deploy", nodes, edges });
  expect((await nodeloom("export", outer, "-o", "pipelines")).stdout.trim().split("\n").sort()).toEqual([
    join("pipelines", "bundle.json"),
    ...[inner, outer].sort().map((slug) => join("pipelines", "workflows", `${slug}.json`)),
  ]);
  const planned = await nodeloom("deploy", "pipelines", "--alias", "staging", "--dry-run");
  expect(planned).toMatchObject({ code: 3, stderr: expect.stringContaining("2 in conflict") as string });
  const declined = start(["deploy", "pipelines", "--alias", "staging", "--overwrite"]);
  declined.stdin.end("n\n");
  expect(await outcome(declined)).toMatchObject({ code: 3, stderr: expect.stringContaining("nothing was deployed") as string });
  expect(await nodeloom("deploy", "pipelines", "--alias", "staging", "--overwrite", "--yes")).toMatchObject({ code: 0 });
  expect(await nodeloom("run", outer, "--alias", "staging")).toMatchObject({ code: 0, stdout: "Hello Ada\n" });
  const again = await nodeloom("deploy", "pipelines", "--alias", "staging", "--yes");
  expect(
    again.stdout
      .trim()
      .split("\n")
      .filter((line) => line.startsWith("unchanged")),
  ).toHaveLength(4);
  const unchanged = await nodeloom("deploy", "pipelines");
  expect(unchanged).toMatchObject({ code: 0, stderr: expect.stringContaining("nothing to deploy") as string });
  await http.call("PUT", `/api/workflows/${inner}`, { key: user.key, body: { description: "by somebody else" } });
  expect(await nodeloom("deploy", "pipelines", "--yes")).toMatchObject({ code: 3 });
  expect(await nodeloom("deploy", "nowhere")).toMatchObject({ code: 2 });
});

it("stores a working key that only its owner can read, and deletes it", async () => {
  const env = { NODELOOM_API_KEY: undefined, NODELOOM_BASE_URL: undefined };
  const login = start(["login", "--url", platform.baseUrl], env);
  login.stdin.end(`${user.key}\n`);
  expect(await outcome(login)).toMatchObject({ code: 0, stderr: expect.stringContaining("signed in as") as string });
  expect((await stat(join(folder, "nodeloom", "login.json"))).mode & 0o777).toBe(0o600);
  expect(await outcome(start(["whoami"], env))).toMatchObject({ code: 0, stdout: expect.stringContaining("business") as string });
  await outcome(start(["logout"], env));
  expect(await outcome(start(["whoami"], env))).toMatchObject({ code: 2, stderr: expect.stringContaining("nodeloom login") as string });
});

it("creates, lists and revokes keys with a password, which keys can't do", async () => {
  const keys = (...args: string[]): Promise<ExitResult> => {
    const child = start(["keys", ...args], { NODELOOM_API_KEY: undefined });
    child.stdin.end(`${user.email}\n${user.password}\n`);
    return outcome(child);
  };
  const created = await keys("create", "By hand", "--capability", "workflow:read", "execution:read");
  expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nl_\S+\n$/) as string });
  const key = created.stdout.trim();
  expect(await outcome(start(["whoami"], { NODELOOM_API_KEY: key }))).toMatchObject({ code: 0 });
  const listed = await keys("list");
  const id = listed.stdout
    .split("\n")
    .find((line) => line.includes("By hand"))!
    .split(" ")[0]!;
  expect(listed.stdout).not.toContain(key);
  expect(await keys("revoke", id)).toMatchObject({ code: 0 });
  expect(await outcome(start(["whoami"], { NODELOOM_API_KEY: key }))).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("UNAUTHENTICATED") as string,
  });
});

it("publishes, schedules, runs batches, and shows runs, their logs and files", async () => {
  const slug = await save(greeting());
  expect(await nodeloom("publish", slug, "--note", "first")).toMatchObject({ code: 0, stdout: "1\n" });
  expect(await nodeloom("promote", slug, "--version", "1")).toMatchObject({ code: 0, stdout: "1\n" });
  await writeFile(join(folder, "rows.csv"), "prompt\nAda\nBea\n");
  const batch = await nodeloom("batch", "run", slug, "rows.csv");
  expect(batch).toMatchObject({ code: 0, stdout: expect.stringContaining("2 of 2 completed, 0 failed") as string });
  const [batchId] = batch.stdout.split(" ");
  const rows = (await nodeloom("batch", "results", batchId!, "--json")).stdout.trim().split("\n");
  expect(rows.map((row) => (JSON.parse(row) as { result: unknown }).result)).toEqual([{ text: "Hello Ada" }, { text: "Hello Bea" }]);
  expect((await nodeloom("batch", "list")).stdout).toContain(batchId);

  const { stdout: scheduled } = await nodeloom("schedule", "create", slug, "@yearly", "prompt=Ada", "--timezone", "Europe/Berlin");
  const schedule = scheduled.trim();
  expect(await nodeloom("schedule", "pause", slug, schedule)).toMatchObject({ stdout: `${schedule} is paused\n` });
  expect((await nodeloom("schedule", "list", slug)).stdout).toContain(schedule);
  expect((await nodeloom("schedule", "list")).stdout).toMatch(new RegExp(`^${schedule} +${slug} .*paused`, "m"));
  expect(await nodeloom("schedule", "delete", slug, schedule)).toMatchObject({ code: 0 });

  const hook = await nodeloom("hook", "create", slug, "--max-credits", "5");
  expect(hook).toMatchObject({ code: 0, stdout: expect.stringMatching(/\/hooks\/nlh_[\w-]+\n$/) as string });
  const [hookId] = /[0-9a-f-]{36}/.exec(hook.stderr)!;
  expect((await nodeloom("hook", "list")).stdout).toMatch(new RegExp(`^${hookId} +${slug} `, "m"));
  expect(await nodeloom("hook", "create", slug)).toMatchObject({ code: 2, stderr: expect.stringContaining("--max-credits") as string });
  expect(await nodeloom("hook", "delete", slug, hookId)).toMatchObject({ code: 0 });

  await nodeloom("run", slug, "prompt=Ada");
  const listed = await nodeloom("executions", "list", "--workflow", slug, "--json");
  const { executionId } = JSON.parse(listed.stdout.split("\n")[0]!) as { executionId: string };
  expect(JSON.parse((await nodeloom("executions", "show", executionId)).stdout)).toMatchObject({ result: { text: "Hello Ada" } });
  const logs = await nodeloom("logs", "-f", executionId);
  expect(logs).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+Z admitted .*Z settled \{.*\}\n$/s) as string });

  await nodeloom("run", "model:sandbox-image", "prompt=x", "-o", "boat.png");
  const { stdout: uploaded } = await nodeloom("media", "upload", "boat.png");
  const id = uploaded.trim();
  expect((await nodeloom("media", "list")).stdout).toContain(id);
  expect(await nodeloom("media", "download", id, "-o", "copy.png")).toMatchObject({ code: 0, stdout: "copy.png\n" });
  expect((await readFile(join(folder, "copy.png"))).subarray(1, 4).toString()).toBe("PNG");
  expect(await nodeloom("media", "delete", id)).toMatchObject({ code: 0 });
});

it("sets budgets and secrets with a key that can, and lists organizations with a password", async () => {
  const { key } = await http.account({ tier: "business", capabilities: ["budgets:write", "secrets:write", "usage:read", "members:read"] });
  const endedRun = (...args: string[]): Promise<ExitResult> => outcome(start(args, { NODELOOM_API_KEY: key }));
  const budget = await endedRun("budgets", "set", "500", "--metadata", "customer=acme", "--window", "day");
  expect(budget.code).toBe(0);
  expect((await endedRun("budgets", "list")).stdout).toMatch(/metadata +customer=acme +500 +day/);
  expect(await endedRun("budgets", "delete", budget.stdout.trim())).toMatchObject({ code: 0 });
  expect(await endedRun("budgets", "set", "5")).toMatchObject({ code: 2, stderr: "give one of --key, --workflow and --metadata\n" });
  const secret = start(["secrets", "set", "SHOP_TOKEN", "--host", "api.example.com"], { NODELOOM_API_KEY: key });
  secret.stdin.end("s3cret-of-the-shop\n");
  expect(await outcome(secret)).toMatchObject({ code: 0, stdout: "SHOP_TOKEN\n" });
  const secrets = await endedRun("secrets", "list");
  expect(secrets.stdout).toMatch(/SHOP_TOKEN .*api\.example\.com/);
  expect(secrets.stdout).not.toContain("s3cret-of-the-shop");
  expect(await endedRun("secrets", "delete", "SHOP_TOKEN")).toMatchObject({ code: 0 });
  const orgs = start(["orgs", "list", "--json"], { NODELOOM_API_KEY: undefined });
  orgs.stdin.end(`${user.email}\n${user.password}\n`);
  const { stdout } = await outcome(orgs);
  expect(JSON.parse(stdout.split("\n")[0]!)).toMatchObject({ personal: true, role: "owner" });
});

it.each([
  [["run", "no-such-workflow"], 3, "workflow not found"],
  [["run", "model:sandbox-image", "prompt"], 2, '"prompt" isn\'t an input'],
  [["run", "model:sandbox-image", "prompt=x", "count=many"], 2, 'count: must be a number, but is "many"'],
  [["run", "model:sandbox-image", "prompt=x", "count:={"], 2, "count: isn't valid JSON"],
  [["run", "model:sandbox-image", "prompt=x", "image=@none.png"], 2, "none.png can't be read"],
  [["run", "model:sandbox-image", "prompt=x", 'sandbox:={"fail":"job"}'], 1, "EXECUTION_FAILED"],
  [["run", "model:sandbox-speech", "prompt=x", "--max-credits", "0.1"], 3, "INSUFFICIENT_CREDITS"],
  [["run", "model:sandbox-speech", "prompt=x", "--max-credits", "many"], 2, "must be a number from 0"],
  [["nonesuch"], 2, "unknown command 'nonesuch'"],
  [["watch", "00000000-0000-4000-8000-000000000000"], 3, "EXECUTION_NOT_FOUND"],
])("%j ends with %i and gives the reason", async (args, code, message) => {
  expect(await nodeloom(...args)).toMatchObject({ code, stderr: expect.stringContaining(message) as string });
});

it("reports that the service can't be reached", async () => {
  const { code, stderr } = await outcome(start(["whoami"], { NODELOOM_BASE_URL: "http://127.0.0.1:9", NODELOOM_MAX_RETRIES: "0" }));
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: "the service could not be reached: http://127.0.0.1:9/api/whoami (bad port) (NETWORK_ERROR)\n",
  });
});
