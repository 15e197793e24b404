import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

const ROOT = join(__dirname, "..", "..", "..");
const DRILLS = join(__dirname, "..");
const SHARED = ["cluster", "support", "test"];
const SCRIPTS = [
  "start",
  "dev",
  "status",
  "logs",
  "reset",
  "build",
  "generate",
  "test",
  "typecheck",
  "lint",
  "format",
  "bench",
  "drill",
  "release",
  "registry:watch",
];
const LISTED = /^ {2}([a-z-]+) +(\d+) min +(\S.*)$/gm;
/** Files that name scripts: texts, sources and settings, not generated ones. */
const PLACES = [
  "README.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  "docs",
  "deploy",
  "gateway",
  "test-support",
  "services",
  "docker-compose.yml",
  "jest.config.cjs",
  "eslint.config.mjs",
  ".ci",
];
const MADE = new Set(["node_modules", "dist", ".nodeloom", "fixtures", "gen"]);
const TEXT = /(\.(md|mjs|cjs|js|ts|tsx|py|sh|ya?ml|json|tpl|txt|env|rules)|Dockerfile|\/run)$/;
/** A command can be wrapped in a comment. Options follow two dashes. */
const BETWEEN = String.raw`(?:\s|\*|//|#)+`;
const COMMAND = new RegExp(`\\bnpm${BETWEEN}run${BETWEEN}([\\w:-]+)(?:${BETWEEN}(?:--${BETWEEN})?([a-z][\\w:-]*))?`, "g");

const drill = (...args: string[]) => spawnSync(process.execPath, [join(DRILLS, "drill.mjs"), ...args], { encoding: "utf8", cwd: ROOT });
const listed = [...drill().stdout.matchAll(LISTED)].map(([, name = ""]) => ({ name }));
const names = new Set(listed.map(({ name }) => name));

const scriptsOf = (folder: string): Record<string, string> =>
  (JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as { scripts?: Record<string, string> }).scripts ?? {};

const filesIn = (path: string): string[] => {
  if (!statSync(path).isDirectory()) return TEXT.test(path) ? [path] : [];
  return readdirSync(path)
    .filter((name) => !MADE.has(name))
    .flatMap((name) => filesIn(join(path, name)));
};

/** Commands in a text that name a missing script or drill. */
const wrongIn = (text: string): string[] =>
  [...text.matchAll(COMMAND)]
    .filter(([, script = "", drill]) => !SCRIPTS.includes(script) || (script === "drill" && drill !== undefined && !names.has(drill)))
    .map(([command]) => command);

it("lists every drill with its description and usual duration", () => {
  const { status, stdout } = drill();
  expect(status).toBe(0);
  expect(listed).toHaveLength(stdout.trim().split("\n").length - 2);
  expect(names.size).toBe(listed.length);
});

it.each(readdirSync(DRILLS, { withFileTypes: true }).filter((one) => one.isDirectory() && !SHARED.includes(one.name)))(
  "lists the folder $name",
  ({ name }) => expect(names).toContain(name),
);

it.each([
  ["restroe", "restore"],
  ["chaos:answers", "answers"],
  ["kubernetes", "kube"],
])("suggests the drill with the name most similar to %s", (wrong, right) => {
  const { status, stderr } = drill(wrong);
  expect(status).toBe(2);
  expect(stderr).toBe(`there is no drill ${wrong}; the nearest is: npm run drill -- ${right}\n`);
});

it("passes options to a drill, and exits with the drill's exit code", () => {
  const { status, stderr } = drill("conformance", "--accounts", "nowhere.json");
  expect({ status, stderr }).toEqual({ status: 2, stderr: "there is no nowhere.json; say where the accounts are with --accounts\n" });
  expect(drill("conformance", "--help").status).toBe(0);
});

it("has fifteen npm scripts besides the drills", () => {
  expect(Object.keys(scriptsOf(".")).sort()).toEqual([...SCRIPTS].sort());
});

it("reports a script or a drill that does not exist", () => {
  expect(
    wrongIn(
      "`npm run drill` and `npm run drill chaos`, `npm run drill -- load --runs 5`; npm run build && node x; npm run logs -- billing",
    ),
  ).toEqual([]);
  expect(wrongIn("`npm run kube`")).toHaveLength(1);
  expect(wrongIn("by `npm run\n * drill caos`")).toHaveLength(1);
  expect(wrongIn("npm run drill -- sizing")).toHaveLength(1);
});

it("names only scripts and drills that exist", () => {
  const wrong = PLACES.flatMap((place) => filesIn(join(ROOT, place)))
    .filter((path) => path !== __filename)
    .flatMap((path) => wrongIn(readFileSync(path, "utf8")).map((command) => `${relative(ROOT, path)}: ${command}`));
  expect(wrong).toEqual([]);
});
