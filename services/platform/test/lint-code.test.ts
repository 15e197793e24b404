import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const ROOT = join(__dirname, "../../..");

interface Snippet {
  name: string;
  code: string;
  /** Some rules depend on folder and extension. */
  file?: string;
}

const LATER = "declare const later: () => Promise<number>;\ndeclare const each: (run: () => void) => void;\n";
const STATE = 'type State = "open" | "closed";\n';

const refusedSnippets: (Snippet & { rule: string })[] = [
  { name: "a promise that nothing waits for", rule: "no-floating-promises", code: `${LATER}later();\n` },
  { name: "a promise in a condition", rule: "no-misused-promises", code: `${LATER}export const keep = later() ? 1 : 2;\n` },
  { name: "an async function where nothing waits", rule: "no-misused-promises", code: `${LATER}each(async () => {});\n` },
  { name: "a promise that is spread", rule: "no-misused-promises", code: `${LATER}export const keep = { ...later() };\n` },
  {
    name: "an async function as a property that returns nothing",
    rule: "no-misused-promises",
    code: "export const keep: { run: () => void } = { run: async () => {} };\n",
  },
  {
    name: "an async function that is returned as one that returns nothing",
    rule: "no-misused-promises",
    code: "type Stop = () => void;\nexport const keep = (): Stop => {\n  return async () => {};\n};\n",
  },
  { name: "a wait for what is no promise", rule: "await-thenable", code: "export const keep = async () => await 1;\n" },
  {
    name: "a switch that forgets a case",
    rule: "switch-exhaustiveness-check",
    code: `${STATE}export const keep = (state: State): void => {\n  switch (state) {\n    case "open":\n      return;\n  }\n};\n`,
  },
  { name: "any", rule: "no-explicit-any", code: "export const keep = (value: any): string => String(value);\n" },
  {
    name: "a type that is imported as a value",
    rule: "consistent-type-imports",
    code: 'import { Server } from "node:http";\nexport type Keep = Server;\n',
  },
  { name: "a default export", rule: "no-default-export", code: "export default 1;\n" },
  { name: "a line to the console", rule: "no-console", code: 'console.log("here");\nexport {};\n' },
  { name: "a comparison that converts", rule: "eqeqeq", code: "export const keep = (a: number, b: number): boolean => a == b;\n" },
  { name: "a let that never changes", rule: "prefer-const", code: "let once = 1;\nexport const keep = once;\n" },
  {
    name: "an async handler of a component",
    rule: "no-misused-promises",
    file: "src/component.tsx",
    code: "declare const Button: (props: { onPress: () => void }) => unknown;\nexport const keep = <Button onPress={async () => {}} />;\n",
  },
  { name: "a promise that no test waits for", rule: "no-floating-promises", file: "test/floating.test.ts", code: `${LATER}later();\n` },
];

const accepted: Snippet[] = [
  { name: "a promise that is left on purpose", code: `${LATER}void later();\n` },
  {
    name: "a switch with a default",
    code: `${STATE}export const keep = (state: State): void => {\n  switch (state) {\n    case "open":\n      return;\n    default:\n  }\n};\n`,
  },
  {
    name: "import() as a type",
    code: 'export type Keep = import("node:http").Server;\n',
  },
  { name: "an async function where a test's helper takes none", file: "test/helper.test.ts", code: `${LATER}each(async () => {});\n` },
  { name: "a script's line to the console", file: "src/script.mjs", code: 'console.log("here");\n' },
];

const fileOf = ({ file }: Snippet, index: number): string => file ?? `src/snippet-${index}.ts`;

describe("the linter of code", () => {
  const snippets: readonly Snippet[] = [...refusedSnippets, ...accepted];
  const judged = new Map<string, string[]>(snippets.map(({ name }) => [name, []]));
  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), "nodeloom-lint-"));
    const write = (file: string, content: string): void => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), content);
    };
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "es2023",
      jsx: "preserve",
      types: ["node"],
      typeRoots: [join(ROOT, "node_modules/@types")],
    };
    write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src", "test"] }));
    const nameOf = new Map(snippets.map((snippet, index) => [join(folder, fileOf(snippet, index)), snippet.name]));
    for (const [index, snippet] of snippets.entries()) write(fileOf(snippet, index), snippet.code);
    const oxlint = spawnSync(
      join(ROOT, "node_modules/.bin/oxlint"),
      ["--config", join(ROOT, ".oxlintrc.json"), "--format", "json", folder],
      {
        cwd: ROOT,
        encoding: "utf8",
      },
    );
    const { diagnostics } = JSON.parse(oxlint.stdout) as { diagnostics: { code: string; filename: string }[] };
    for (const { code, filename } of diagnostics) judged.get(nameOf.get(filename)!)!.push(code);
    rmSync(folder, { recursive: true });
  });

  it.each(refusedSnippets)("rejects $name", ({ name, rule }) => {
    expect(judged.get(name)!.join("\n")).toContain(`(${rule})`);
  });

  it.each(accepted)("accepts $name", ({ name }) => {
    expect(judged.get(name)).toEqual([]);
  });
});
