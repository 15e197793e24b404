import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Script } from "node:vm";
import { parse } from "yaml";
import type { ApiDocument } from "../../src/docs/api/document";
import { apiPages } from "../../src/docs/api/pages";
import { routes } from "../../src/endpoints";
import { document } from "../support/document";
import { allSnippets, placeOf, ROOT, snippetsOf, type Snippet } from "../../../test-support/snippets";

/**
 * Checks that every block of the documentation is of its declared kind. e2e/guide.test.ts runs the blocks `sh run`, `ts run` and `python
 * run`.
 */

const snippets = allSnippets();
const api = document as unknown as ApiDocument;
/** Calls of operations in the reference of the API. */
const calls = apiPages(api).flatMap(({ path, markdown }) => snippetsOf(path, markdown(api)).filter(({ mark }) => mark === "call"));
const isIn = (...languages: string[]): Snippet[] => snippets.filter(({ language }) => languages.includes(language));

/** Allowed second words of a block's kind by language, for languages that don't determine how a block is checked. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  // Run by e2e/guide.test.ts, by e2e/tour.test.ts, by a drill, or by a reader because tests lack a requirement.
  sh: ["run", "tour", "drill", "by-hand"],
  // Blocks whose types are checked, which may also be run, or which are written from the client's sources.
  ts: ["", "run", "declaration"],
  python: ["", "run", "declaration"],
  js: [""],
  json: [""],
  yaml: [""],
  // A program over a client that `npm run drill openapi` generates.
  go: [""],
  // Settings of proxies that `npm run drill proxies` uses.
  nginx: ["drill"],
  haproxy: ["drill"],
  // Requests whose routes exist.
  http: [""],
  // A drawing, or text of another service.
  text: [""],
};

it("finds the blocks of pages, including those in lists", () => {
  const page = "a\n\n```sh run\necho 1\n```\n\n1. b\n\n   ```json\n   {}\n   ```\n\n```\nc\n```\n";
  expect(snippetsOf("p.md", page)).toEqual([
    { page: "p.md", line: 3, language: "sh", mark: "run", code: "echo 1\n" },
    { page: "p.md", line: 9, language: "json", mark: "", code: "{}\n" },
    { page: "p.md", line: 13, language: "", mark: "", code: "c\n" },
  ]);
  expect(snippets.length).toBeGreaterThan(100);
});

it("knows the kind of every block, and so its check", () => {
  const silent = snippets.filter(({ language, mark }) => KINDS[language]?.includes(mark) !== true);
  expect(silent.map((one) => `${placeOf(one)}: "${one.language} ${one.mark}"`)).toEqual([]);
});

it("has valid JSON and valid YAML", () => {
  const broken = isIn("json", "yaml").flatMap((one) => {
    try {
      if (one.language === "json") JSON.parse(one.code);
      else parse(one.code, { strict: true });
      return [];
    } catch (error) {
      return [`${placeOf(one)}: ${String(error)}`];
    }
  });
  expect(broken).toEqual([]);
});

it("has shell commands and JavaScript that a shell and Node.js can parse", () => {
  for (const one of isIn("sh")) {
    const { status, stderr } = spawnSync("bash", ["-n"], { input: one.code, encoding: "utf8" });
    expect({ place: placeOf(one), status, stderr }).toEqual({ place: placeOf(one), status: 0, stderr: "" });
  }
  for (const one of isIn("js")) expect(() => new Script(one.code, { filename: placeOf(one) })).not.toThrow();
});

it("has requests whose routes exist", () => {
  /** Files of the media service, which the gateway proxies. */
  const isFile = (path: string): boolean => path.startsWith("/media/");
  const forms = routes.map(({ method, path }) => ({ method, form: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`) }));
  const requests = isIn("http").flatMap((one) =>
    [...one.code.matchAll(/^(GET|POST|PUT|PATCH|DELETE) +(\S+)/gm)].map(([, method, target]) => ({
      place: placeOf(one),
      method: method!,
      path: target!.split("?")[0]!,
    })),
  );
  expect(requests.length).toBeGreaterThan(5);
  const unknown = requests.filter(
    ({ method, path }) => !isFile(path) && !forms.some((route) => route.method === method && route.form.test(path)),
  );
  expect(unknown).toEqual([]);
});

it("has Python that compiles", () => {
  const blocks = [...isIn("python"), ...calls.filter(({ language }) => language === "python")].filter(({ mark }) => mark !== "declaration");
  const input = JSON.stringify(blocks.map((one) => ({ place: placeOf(one), code: one.code })));
  const program = 'import json, sys\nfor one in json.load(sys.stdin): compile(one["code"], one["place"], "exec")';
  expect(spawnSync("python3", ["-c", program], { input, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
});

it("has TypeScript with correct types of the client", () => {
  const folder = mkdtempSync(join(tmpdir(), "nodeloom-snippets-"));
  try {
    const blocks = isIn("ts").filter(({ mark }) => mark !== "declaration");
    expect(blocks.length).toBeGreaterThan(2);
    for (const one of blocks) {
      // A page creates the client once, and later blocks use it.
      const isFirst = one.code.includes("createClient(");
      const prelude =
        'import type { Client } from "@nodeloom/client"; declare const client: Client; declare const rows: Record<string, unknown>[];';
      const name = placeOf(one).replaceAll(/[^\w]/g, "-");
      writeFileSync(join(folder, `${name}.ts`), `${isFirst ? "" : prelude}${one.code}\nexport {};\n`);
    }
    const functions = calls
      .filter(({ language }) => language === "ts")
      .map(({ code }, index) => `export const call${index} = async (client: Client) => {\n${code}\nreturn body;\n};`);
    expect(functions.length).toBeGreaterThan(50);
    writeFileSync(join(folder, "calls.ts"), ['import type { Client } from "@nodeloom/client";', ...functions].join("\n"));
    const compilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: true, target: "es2022", module: "esnext", moduleResolution: "bundler" },
      ...{ types: ["node"], typeRoots: [join(ROOT, "node_modules", "@types")] },
      paths: {
        "@nodeloom/client": [join(ROOT, "gateway", "client", "src", "index.ts")],
        standardwebhooks: [join(ROOT, "node_modules", "standardwebhooks")],
      },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
