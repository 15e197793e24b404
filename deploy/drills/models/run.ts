import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { pricedInputs, readWrittenPrice, type WrittenPrice } from "../../../services/kernel/src";
import { checkOf, type LibraryCheck } from "./checks";
import { examplesOf, isHosted, readEntries, requestOf, type ExampleCall, type RegistryFile, type SentRequest } from "./requests";
import { writeTable } from "./table";

export const DRILL = {
  sentence: "checks the request of every hosted model against the types of its provider's library",
  minutes: 2,
  builds: true,
};

/**
 * `npm run drill models`: checks the request of every hosted registry entry's example against the types of the provider's own library, and
 * writes the guide's table. Old dates cause warnings.
 */

const LIBRARIES = join(__dirname, "libraries");
const OLD_DAYS = 180;
const DAY_MS = 24 * 60 * 60 * 1_000;
const FILE = "@@file@@";

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Installs the libraries, once per lock file. */
const install = (): string => {
  const lock = readFileSync(join(LIBRARIES, "package-lock.json"));
  const cache = process.env.NODELOOM_CACHE_DIR || join(homedir(), ".cache", "nodeloom");
  const folder = join(cache, "drill-models", createHash("sha256").update(lock).digest("hex").slice(0, 16));
  const marker = join(folder, "installed");
  if (existsSync(marker)) return folder;
  print("fetching the providers' libraries …");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(LIBRARIES, folder, { recursive: true });
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional"], {
    cwd: folder,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("the libraries could not be fetched");
  writeFileSync(marker, "");
  return folder;
};

/** A form as an object with parsed values. */
const formBody = (body: string, contentType: string): Record<string, unknown> => {
  const boundary = /boundary=(\S+)/.exec(contentType)?.[1] ?? "";
  const parts = body.split(`--${boundary}`).flatMap((part): [string, unknown][] => {
    const [, name, rest = "", value = ""] = /name="([^"]+)"([^]*?)\r\n\r\n([^]*?)\r\n$/.exec(part) ?? [];
    if (name === undefined) return [];
    if (rest.includes("filename=")) return [[name, FILE]];
    return [[name, /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value]];
  });
  return Object.fromEntries(parts);
};

const bodyOf = ({ body, contentType }: SentRequest): unknown =>
  contentType.startsWith("multipart/") ? formBody(body, contentType) : (JSON.parse(body) as unknown);

/** Converts a library's enumerations to their string values. */
const WIRE = "type Wire<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;";

const sourceOf = (body: unknown, { type }: LibraryCheck): string =>
  `${WIRE}\ntype Body = ${type};\n(${JSON.stringify(body, null, 2).replaceAll(`"${FILE}"`, "{} as never")}) satisfies Body;\nexport {};\n`;

interface Case {
  entry: RegistryFile;
  request: SentRequest;
  check: LibraryCheck;
  file: string;
}

/** Compiler errors per file, one line each. */
const typeProblems = (folder: string, cases: readonly Case[]): Map<string, string> => {
  const program = ts.createProgram(
    cases.map(({ file }) => file),
    {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
      types: [],
      baseUrl: folder,
      ignoreDeprecations: "6.0",
    },
  );
  const problemsByFile = cases.flatMap(({ file, entry }): [string, string][] => {
    const source = program.getSourceFile(file);
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return problems.length === 0 ? [] : [[entry.internalName, ts.flattenDiagnosticMessageText(problems[0]!.messageText, " ")]];
  });
  return new Map(problemsByFile);
};

const priced = (entry: RegistryFile) => (inputs: Record<string, unknown>) => {
  const { price } = entry as unknown as { price: WrittenPrice };
  return pricedInputs(readWrittenPrice(price), entry.inputSchema, inputs);
};

const oldDates = (entries: readonly RegistryFile[]): string[] =>
  entries
    .filter(isHosted)
    .flatMap(({ internalName, asOf, retiresOn }) => [
      ...(asOf === undefined || Date.now() - Date.parse(asOf) > OLD_DAYS * DAY_MS
        ? [`${internalName}: read ${asOf ?? "at no day that it says"}`]
        : []),
      ...(retiresOn !== undefined && Date.now() >= Date.parse(retiresOn) ? [`${internalName}: shut down on ${retiresOn}`] : []),
    ]);

const main = async (): Promise<number> => {
  const folder = install();
  const read = (library: string, file: string): string => readFileSync(join(folder, "node_modules", library, file), "utf8");
  const versionOf = (library: string): string => (JSON.parse(read(library, "package.json")) as { version: string }).version;
  const entries = readEntries();
  const checked = new Map<string, string>();
  const cases: Case[] = [];
  const problems = new Map<string, string>();
  const examine = async (entry: RegistryFile, ask: ExampleCall, index: number): Promise<void> => {
    const request = await requestOf(entry, priced(entry), ask);
    const check = checkOf(entry, request, read);
    if ("none" in check) return void checked.set(entry.internalName, `not checked: ${check.none}`);
    const file = join(folder, `${entry.internalName}-${index}.ts`);
    writeFileSync(file, sourceOf(bodyOf(request), check));
    cases.push({ entry, request, check, file });
    checked.set(entry.internalName, `checked against ${check.library} ${versionOf(check.library)}${check.note ? ` (${check.note})` : ""}`);
    const missing = check.mentions.find((one) => !read(check.library, one.file).includes(one.text));
    if (missing) problems.set(entry.internalName, `${check.library} does not know ${missing.text}`);
  };
  for (const entry of entries.filter(isHosted)) for (const [index, ask] of examplesOf(entry).entries()) await examine(entry, ask, index);
  for (const [name, problem] of typeProblems(folder, cases)) problems.set(name, problem);
  for (const { file } of cases) rmSync(file);
  await writeTable(entries, checked);
  for (const warning of oldDates(entries)) print(`warning: ${warning}`);
  for (const [name, problem] of problems) print(`${name}: ${problem}`);
  print(`${entries.filter(isHosted).length} entries, ${cases.length} requests checked, ${problems.size} mismatches`);
  return problems.size === 0 ? 0 : 1;
};

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${(error as Error).stack ?? String(error)}\n`);
    process.exitCode = 1;
  },
);
