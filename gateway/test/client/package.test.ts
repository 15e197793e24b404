import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = join(__dirname, "..", "..", "..");
const CLIENT = join(ROOT, "gateway", "client");
const MODULES = join(ROOT, "node_modules");

const CONSUMER = `
import { createClient, NodeloomError, type Execution } from "@nodeloom/client";

const client = createClient({ baseUrl: "http://127.0.0.1:8080", apiKey: "nl_x", placeTimeoutMs: 1_000 });

export const poster = async (): Promise<string> => {
  const { estimatedCreditCost } = await client.quote({ workflow: "poster" }, { prompt: "x" });
  const run = await client.run<{ images: { url: string }[] }>({ workflow: "poster" }, { prompt: "x" }, { maxCredits: estimatedCreditCost });
  const cost: number = run.cost;
  return \`\${cost} \${run.result.images[0]?.url ?? ""}\`;
};

export const poll = async (id: string): Promise<Execution["status"]> => {
  try {
    return (await client.wait(id)).status;
  } catch (error) {
    if (error instanceof NodeloomError) return error.code === undefined ? "failed" : "cancelled";
    throw error;
  }
};

// @ts-expect-error a target is a workflow or a model
void client.run({ flow: "poster" });
// @ts-expect-error results without a type are not of any
export const text = async (): Promise<string> => (await client.run({ model: "x" })).result.text;
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodeloom-consumer-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it("is typed for a strict consumer by what its build writes", async () => {
  const installed = join(folder, "node_modules", "@nodeloom", "client");
  await mkdir(installed, { recursive: true });
  await cp(join(CLIENT, "package.json"), join(installed, "package.json"));
  const module = pathToFileURL(join(ROOT, "deploy", "local", "build", "declarations.mjs")).href;
  const script = `import(${JSON.stringify(module)}).then(({ writeDeclarations }) => writeDeclarations(${JSON.stringify(join(installed, "dist"))}))`;
  execFileSync(process.execPath, ["--input-type=module", "-e", `await ${script}`]);
  await mkdir(join(folder, "node_modules", "@types"));
  await symlink(join(MODULES, "@types", "node"), join(folder, "node_modules", "@types", "node"));
  await symlink(join(MODULES, "undici-types"), join(folder, "node_modules", "undici-types"));
  await symlink(join(MODULES, "standardwebhooks"), join(folder, "node_modules", "standardwebhooks"));
  await writeFile(join(folder, "consumer.mts"), CONSUMER);
  const options = { strict: true, exactOptionalPropertyTypes: true, module: "nodenext", target: "es2023", types: ["node"], noEmit: true };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, skipLibCheck: true }, files: ["consumer.mts"] }),
  );
  const compiler = join(MODULES, "typescript", "bin", "tsc");
  const check = (): string => {
    try {
      return execFileSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };
  expect(check()).toBe("");
});
