import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { filesBelow } from "../run/files.mjs";
import { ROOT } from "../paths.mjs";
import { ENTRIES, writeClientModule } from "./client-module.mjs";
import { readStamps, writeStamp } from "./stamps.mjs";

const CLIENT = join(ROOT, "gateway", "client");
const STEP = "client types";
/** ES modules, beside the CommonJS files. */
const MODULES = "esm";

/** @param {string} path */
const isSource = (path) => path.endsWith(".ts");

/** Writes the client's type declarations file by file, because its exports state their types. @param {string} to the folder to write to */
export const writeDeclarations = async (to) => {
  /** @type {typeof import("typescript")} */
  const typescript = createRequire(import.meta.url)("typescript");
  const from = join(CLIENT, "src");
  for (const fileName of await filesBelow(from, isSource)) {
    const { outputText, diagnostics = [] } = typescript.transpileDeclaration(await readFile(fileName, "utf8"), {
      fileName,
      reportDiagnostics: true,
      compilerOptions: { target: typescript.ScriptTarget.ES2023, isolatedDeclarations: true, declaration: true, strict: true },
    });
    const [first] = diagnostics;
    if (first) throw new Error(`${relative(ROOT, fileName)}: ${typescript.flattenDiagnosticMessageText(first.messageText, "\n")}`);
    const output = join(to, relative(from, fileName).replace(/\.ts$/, ".d.ts"));
    await mkdir(dirname(output), { recursive: true });
    await writeFile(output, outputText);
  }
  for (const entry of ENTRIES) {
    const file = join(to, MODULES, `${entry}.d.mts`);
    await mkdir(dirname(file), { recursive: true });
    // The CommonJS files have the same exports.
    await writeFile(file, `export * from "${relative(dirname(file), join(to, `${entry}.js`))}";\n`);
  }
};

/** Writes the client's types and ES modules if its sources changed. Returns true if it wrote them. */
export const declareTypes = async () => {
  const hash = createHash("sha256");
  for (const source of (await filesBelow(join(CLIENT, "src"), isSource)).sort()) hash.update(await readFile(source));
  const digest = hash.digest("hex");
  const declared = await filesBelow(join(CLIENT, "dist"), (path) => /[/\\]index\.(?:d\.ts|mjs)$/.test(path));
  if (declared.length > 1 && (await readStamps())[STEP] === digest) return false;
  await writeDeclarations(join(CLIENT, "dist"));
  await writeClientModule(join(CLIENT, "dist", MODULES));
  await writeStamp(STEP, digest);
  return true;
};
