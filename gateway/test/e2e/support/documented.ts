import { execFile, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { transformSync } from "@swc/core";
import { allSnippets, placeOf, ROOT, type Snippet } from "../../../../test-support/snippets";
import type { Account, Answer } from "../../../../test-support/client";

/** Runs the documentation's blocks marked `run`. The blocks of a page run in one shell, as if a reader pasted them. */

const RUN = "run";
const PAGE_MS = 120_000;
/** For pages whose calls need the session cookies of another page. */
const SIGN_IN = `curl -fsS -c cookies.txt "$BASE/api/auth/login" -H 'content-type: application/json' -d "{ \\"email\\": \\"$EMAIL\\", \\"password\\": \\"$PASSWORD\\" }"`;
const signIn = (script: string): string => (script.includes("-b cookies.txt") && !script.includes("-c cookies.txt") ? `${SIGN_IN}\n` : "");
/** Maximum output shown for a failed page. */
const SHOWN_CHARS = 2_000;

const clientPython = async (): Promise<string> => {
  const program = `const { readFile } = await import("node:fs/promises");
    const { pythonEnvironment } = await import("./deploy/local/build/python.mjs");
    const requirements = await readFile("gateway/python/tests/requirements.txt", "utf8");
    console.log(await pythonEnvironment({ name: "client", requirements, progress: console.error }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { cwd: ROOT });
  return stdout.trim();
};

/** Command that executes a block; for a shell, the block's text. */
const commandOf = (snippet: Snippet, folder: string, python: string): string => {
  const { language, code, line } = snippet;
  if (language === "sh") return code;
  if (language === "python") {
    writeFileSync(join(folder, `${line}.py`), code);
    return `"${python}" ${line}.py\n`;
  }
  const { code: program } = transformSync(code, { jsc: { parser: { syntax: "typescript" }, target: "es2022" } });
  writeFileSync(join(folder, `${line}.mjs`), program);
  return `node ${line}.mjs\n`;
};

/** A graph for a picture from an input, optionally with an approval before the result. */
const graphOf = (name: string, input: string, isReviewed: boolean): object => {
  const [sourceId, port] = isReviewed ? ["review", "approved"] : ["picture", "image"];
  return {
    name,
    nodes: [
      { id: "in", type: "request-input", data: { fields: [{ name: input, type: "text", default: "a loom" }] } },
      { id: "picture", type: "generate-image", data: { model: "sandbox-image" } },
      ...(isReviewed ? [{ id: "review", type: "approval", data: { title: "Good enough to send?" } }] : []),
      { id: "out", type: "response-output", data: {} },
    ],
    edges: [
      { source: "in", sourceHandle: input, target: "picture", targetHandle: "prompt" },
      ...(isReviewed ? [{ source: "picture", sourceHandle: "image", target: "review", targetHandle: "value" }] : []),
      { source: sourceId, sourceHandle: port, target: "out", targetHandle: "images" },
    ],
  };
};

export interface Reader {
  baseUrl: string;
  account: Account;
  post(path: string, body: unknown): Promise<Answer>;
}

/** Values of the capitalized names on pages, with the resources that they name. */
const surroundings = async ({ baseUrl, account, post }: Reader): Promise<Record<string, string>> => {
  const SECRET = "the secret that the sender has, too";
  await post("/api/workflows", graphOf("Poster maker", "prompt", false));
  const SLUG = (await post("/api/workflows", graphOf("News", "subject", false))).body.slug as string;
  const hook = { expression: "{ subject: issue.title }", maxCredits: 20, hmac: { header: "X-Hub-Signature-256", secret: SECRET } };
  const HOOK = (await post(`/api/workflows/${SLUG}/hooks`, hook)).body.url as string;
  const reviewed = (await post("/api/workflows", graphOf("Reviewed", "subject", true))).body.slug as string;
  // Returns once the run waits for its decision.
  const ID = (await post(`/api/workflows/${reviewed}/run`, { inputs: {} })).body.executionId as string;
  const { key: KEY = "", email: EMAIL, password: PASSWORD } = account;
  return { BASE: baseUrl, KEY, EMAIL, PASSWORD, SLUG, SECRET, HOOK, ID, SCHEDULE: ID, NODELOOM_BASE_URL: baseUrl, NODELOOM_API_KEY: KEY };
};

/** Creates a folder with everything that pages assume: a checkout after a start, and a picture. */
const prepare = (folder: string, { BASE, KEY }: Readonly<Record<string, string>>): void => {
  mkdirSync(join(folder, ".nodeloom"), { recursive: true });
  writeFileSync(join(folder, ".nodeloom", "local.json"), JSON.stringify({ baseUrl: BASE, accounts: { business: { apiKey: KEY } } }));
  for (const name of ["docs", "node_modules"]) symlinkSync(join(ROOT, name), join(folder, name));
  copyFileSync(join(ROOT, "docs", "guide", "pictures", "canvas-light.png"), join(folder, "boat.png"));
};

/** @returns the failure; empty on success */
const follow = async (script: string, folder: string, env: Readonly<Record<string, string>>): Promise<string> => {
  const PATH = `${join(ROOT, "node_modules", ".bin")}:${process.env.PATH}`;
  const shell = spawn("bash", ["-c", `set -eo pipefail\n${script}`], {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: join(ROOT, "gateway", "python", "src"), PYTHONDONTWRITEBYTECODE: "1", ...env, PATH },
    timeout: PAGE_MS,
  });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => shell.once("close", resolve));
  return code === 0 ? "" : `exits with ${code}:\n${output.slice(-SHOWN_CHARS)}`;
};

/**
 * Runs every page.
 * @returns the number of blocks, and the failures
 */
export const runDocumented = async (reader: Reader): Promise<{ blocks: number; failures: string[] }> => {
  const blocks = allSnippets().filter(({ mark }) => mark === RUN);
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-documented-"));
  const [python, env] = await Promise.all([clientPython(), surroundings(reader)]);
  const pages = [...new Set(blocks.map(({ page }) => page))];
  const results = await Promise.all(
    pages.map(async (page) => {
      const own = join(folder, page.replaceAll("/", "-"));
      prepare(own, env);
      const commands = blocks.filter((one) => one.page === page).map((one) => `echo '# ${placeOf(one)}'\n${commandOf(one, own, python)}`);
      const script = commands.join("\n");
      return `${page} ${await follow(`${signIn(script)}${script}`, own, env)}`.trim();
    }),
  );
  rmSync(folder, { recursive: true });
  return { blocks: blocks.length, failures: results.filter((result) => !pages.includes(result)) };
};
