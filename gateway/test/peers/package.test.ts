import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The TypeScript client as published: packed, and installed in an empty folder. */

const execute = promisify(execFile);
const ROOT = join(__dirname, "..", "..", "..");
const CLIENT = join(ROOT, "gateway", "client");
const TOOLS = ["typescript@6.0.3", "esbuild@0.28.2", "@types/node@20.19.43"];

const CONSUMER = `
import { createClient, NodeloomError, type Execution } from "@nodeloom/client";

const client = createClient({ baseUrl: "http://127.0.0.1:9", maxRetries: 0 });
export const status = async (id: string): Promise<Execution["status"]> => (await client.wait(id)).status;
client.whoami().catch((error: unknown) => console.log(error instanceof NodeloomError ? error.code : error));
// @ts-expect-error a target is a workflow or a model
void (() => client.run({ flow: "x" }));
`;

let folder: string;
const run = async (program: string, ...args: string[]): Promise<string> => (await execute(program, args, { cwd: folder })).stdout;
const inFolder = (...path: string[]): string => join(folder, ...path);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-package-"));
  const packed = await execute("npm", ["pack", "--json", "--pack-destination", folder], { cwd: CLIENT });
  // The build's own output comes first.
  const [{ filename }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf("[\n"))) as [{ filename: string }];
  await writeFile(inFolder("package.json"), JSON.stringify({ name: "consumer", private: true }));
  await run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", `./${filename}`, ...TOOLS);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("contains its requirements, and no source files", async () => {
  const { dependencies } = JSON.parse(await readFile(inFolder("node_modules", "@nodeloom", "client", "package.json"), "utf8")) as {
    dependencies: object;
  };
  expect(Object.keys(dependencies).sort()).toEqual(["commander", "standardwebhooks"]);
  await expect(readFile(inFolder("node_modules", "@nodeloom", "client", "src", "index.ts"))).rejects.toThrow("ENOENT");
});

it("can be loaded by import and by require, as the same module", async () => {
  const names =
    "Object.keys(client).filter((name) => name !== 'default' && name !== '__esModule' && name !== 'module.exports').sort().join()";
  const imported = await run(
    process.execPath,
    "--input-type=module",
    "-e",
    `import * as client from "@nodeloom/client"; console.log(${names})`,
  );
  const required = await run(process.execPath, "-e", `const client = require("@nodeloom/client"); console.log(${names})`);
  expect(imported).toBe(required);
  expect(imported).toContain("createClient");
  const verify =
    "try { verifyWebhook('{}', {}, 'whsec_' + btoa('0'.repeat(32))) } catch (error) { console.log(error instanceof WebhookVerificationError) }";
  expect(
    await run(
      process.execPath,
      "--input-type=module",
      "-e",
      `import { verifyWebhook, WebhookVerificationError } from "@nodeloom/client"; ${verify}`,
    ),
  ).toBe("true\n");
});

it.each([
  ["node16", "node16", "consumer.mts"],
  ["node16", "node16", "consumer.cts"],
  ["esnext", "bundler", "consumer.ts"],
])("has types for strict consumers (module %s, resolved as %s, in %s)", async (module, moduleResolution, file) => {
  await writeFile(inFolder(file), CONSUMER);
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    module,
    moduleResolution,
    target: "es2022",
    types: ["node"],
    outDir: "out",
    skipLibCheck: false,
  };
  await writeFile(inFolder("tsconfig.json"), JSON.stringify({ compilerOptions: options, files: [file] }));
  await run(process.execPath, inFolder("node_modules", "typescript", "bin", "tsc"), "-p", folder);
  if (moduleResolution !== "node16") return;
  expect(await run(process.execPath, inFolder("out", file.replace(/ts$/, "js")))).toBe("NETWORK_ERROR\n");
});

it("is bundled for browsers, without unused code", async () => {
  const bundle = async (code: string): Promise<string> => {
    await mkdir(inFolder("web"), { recursive: true });
    await writeFile(inFolder("web", "entry.js"), code);
    return run(
      inFolder("node_modules", "esbuild", "bin", "esbuild"),
      "web/entry.js",
      "--bundle",
      "--format=esm",
      "--platform=browser",
      "--minify",
    );
  };
  const [error, client, webhook] = [
    await bundle('import { NodeloomError } from "@nodeloom/client"; console.log(NodeloomError);'),
    await bundle('import { createClient } from "@nodeloom/client"; console.log(createClient);'),
    await bundle('import { verifyWebhook } from "@nodeloom/client"; console.log(verifyWebhook);'),
  ];
  expect(error.length).toBeLessThan(2_000);
  expect(client).not.toMatch(/svix|webhook-signature|commander/);
  expect(client.length).toBeLessThan(60_000);
  expect(webhook).not.toContain("x-ratelimit-remaining");
});

it("includes the command line", async () => {
  expect(await run(inFolder("node_modules", ".bin", "nodeloom"), "--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
});
