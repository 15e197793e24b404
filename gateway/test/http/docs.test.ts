import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readGuides } from "../../src/docs/guide";
import { send } from "../support/http";
import { startPlatform, type Platform } from "../support/platform";

let platform: Platform;
beforeAll(async () => void (platform = await startPlatform()));
afterAll(() => platform.stop());

const get = (path: string, headers = {}) => send(platform.baseUrl, path, { headers });

it("serves the OpenAPI document at two addresses, and llms.txt lists it", async () => {
  const [short, long, llms] = await Promise.all(["/openapi.json", "/api/openapi.json", "/llms.txt"].map((path) => get(path)));
  expect(short!.text).toBe(long!.text);
  expect(short!.body).toMatchObject({ openapi: "3.1.0", externalDocs: { url: `${platform.baseUrl}/docs/guide` } });
  expect(llms!.headers["content-type"]).toBe("text/plain; charset=utf-8");
  expect(llms!.text).toContain(`(${platform.baseUrl}/openapi.json)`);
});

it("serves every guide as a page and as Markdown, as the index and llms.txt list them", async () => {
  const { text: llms } = await get("/llms.txt");
  const { text: index } = await get("/docs/guide");
  const folder = join(__dirname, "..", "..", "..", "docs", "guide");
  const guides = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  expect(guides.length).toBeGreaterThan(10);
  for (const name of guides) {
    expect(llms).toContain(`(${platform.baseUrl}/docs/guide/${name})`);
    const path = `/docs/guide/${name.replace(/\.md$/, "")}`;
    expect(index).toContain(`<a href="${path}">`);
    const [page, markdown] = await Promise.all([get(path), get(`/docs/guide/${name}`)]);
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect([markdown.status, markdown.headers["content-type"]]).toEqual([200, "text/markdown; charset=utf-8"]);
  }
});

it("links pages to what is served: every page, picture and heading that a guide names is there", () => {
  const { pages, files } = readGuides();
  const known = new Set([...pages.keys(), ...files.keys()]);
  const broken = [...pages.values()].flatMap(({ path, html }) => {
    const targets = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, target]) => target!);
    return targets
      .map((target) => new URL(target, `http://docs/${path}`))
      .filter(({ host, pathname }) => host === "docs" && pathname !== "/" && !pathname.startsWith("/docs"))
      .filter(({ pathname, hash }) => {
        const name = pathname.slice(1);
        const page = pages.get(name);
        return !known.has(name) || (hash !== "" && !page?.html.includes(`id="${decodeURIComponent(hash.slice(1))}"`));
      })
      .map(({ href }) => `${path}: ${href}`);
  });
  expect(broken).toEqual([]);
});

it("answers 304 while its text is the same, and 404 to what is no guide", async () => {
  const { headers } = await get("/docs/guide/runs");
  expect((await get("/docs/guide/runs", { "if-none-match": headers.etag })).status).toBe(304);
  for (const path of ["/docs/guide/nothing", "/docs/guide/../../package.json", "/docs/guide/%2e%2e/README.md"]) {
    expect((await get(path)).status).toBe(404);
  }
});
