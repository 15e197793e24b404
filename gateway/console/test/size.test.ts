import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const DIST = join(__dirname, "..", "dist");
const ASSETS = join(DIST, "assets");
const KB = 1_000;

const gzipped = (path: string): number => gzipSync(readFileSync(path)).length / KB;
const sum = (names: readonly string[]): number => names.reduce((total, name) => total + gzipped(join(ASSETS, name)), 0);

/** Files that a built file imports at once, with their imports. */
const withImports = (names: readonly string[]): string[] => {
  const reachedNames = new Set<string>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reachedNames.has(name)) continue;
    reachedNames.add(name);
    const text = readFileSync(join(ASSETS, name), "utf8");
    for (const [, imported] of text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) open.push(imported!);
  }
  return [...reachedNames];
};

const entry = (page = "index.html"): string[] =>
  [...readFileSync(join(DIST, page), "utf8").matchAll(/\/assets\/([\w.-]+\.js)/g)].map(([, name]) => name!);
const chunk = (prefix: string): string[] => readdirSync(ASSETS).filter((name) => name.startsWith(prefix) && name.endsWith(".js"));

describe("the console's code in the browser, compressed", () => {
  beforeAll(() => {
    if (!existsSync(join(DIST, "index.html"))) throw new Error("nothing was built: run npm run build first");
  });

  it("is at most 230 kB of scripts for the first page", () => {
    expect(sum(withImports([...entry(), ...chunk("dashboard-page-")]))).toBeLessThanOrEqual(230);
  });

  // A quarter of it is the kernel, which validates and prices on the canvas as the service does, and grows with its kinds.
  it("is at most 182 kB more for the canvas", () => {
    const first = new Set(withImports([...entry(), ...chunk("dashboard-page-")]));
    expect(sum(withImports(chunk("editor-page-")).filter((name) => !first.has(name)))).toBeLessThanOrEqual(182);
  });

  // It includes the whole client, which grows with the API's resources.
  it("is at most 104 kB of scripts and styles for the page of an app", () => {
    const [styles] = [...readFileSync(join(DIST, "app.html"), "utf8").matchAll(/\/assets\/([\w.-]+\.css)/g)].map(([, name]) => name!);
    expect(sum([...withImports(entry("app.html")), styles!])).toBeLessThanOrEqual(104);
  });

  it("is at most 20 kB of styles", () => {
    expect(sum(readdirSync(ASSETS).filter((name) => name.endsWith(".css")))).toBeLessThanOrEqual(20);
  });
});
