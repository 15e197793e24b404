import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Tests of the import picture. Its modules are ESM, which Jest can't load here. */
const ROOT = join(__dirname, "../../..");

const IMPORTS = [
  { from: "server.ts", to: "accept/runs.ts" },
  { from: "workflow/worker.ts", to: "record/store.ts" },
  { from: "record/store.ts", to: "run/states.ts" },
  { from: "record/log.ts", to: "record/store.ts" },
  { from: "record/store.ts", to: "workflow/worker.ts" },
  { from: "run/states.ts", to: "run/line.ts" },
];

const SCRIPT = `
import { byRoom, circlesAmong, importsIn, upwards } from ${JSON.stringify(join(ROOT, "deploy/local/checks/imports.mjs"))};
import { partNamed } from ${JSON.stringify(join(ROOT, "deploy/local/checks/floors.mjs"))};
const imports = ${JSON.stringify(IMPORTS)};
const real = await importsIn("services/executions/src");
process.stdout.write(JSON.stringify({
  up: upwards(partNamed("executions"), imports),
  circles: circlesAmong(byRoom(imports)),
  straight: circlesAmong(byRoom(imports.slice(0, 4))),
  ofMain: real.filter(({ from }) => from === "main.ts").map(({ to }) => to),
  ofOthers: real.filter(({ to }) => to.startsWith("..")).length,
}));
`;
const result = JSON.parse(
  execFileSync(process.execPath, ["--input-type=module", "--eval", SCRIPT], { encoding: "utf8", cwd: ROOT }),
) as Record<string, unknown>;

it("finds an import of a higher floor", () => expect(result.up).toEqual([{ from: "record/store.ts", to: "workflow/worker.ts" }]));

it("finds rooms that import one another, however indirectly, and only those", () => {
  expect(result.circles).toEqual([["workflow", "record"]]);
  expect(result.straight).toEqual([]);
});

it("reads the imports of executions, types included", () => {
  expect(result.ofMain).toContain("wiring.ts");
  expect(result.ofOthers).toBe(0);
});
