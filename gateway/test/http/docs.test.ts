import { readdirSync } from "node:fs";
import { join } from "node:path";
import { send } from "../support/http";
import { startPlatform, type Platform } from "../support/platform";

let platform: Platform;
beforeAll(async () => void (platform = await startPlatform({ ANONYMOUS_RATE_LIMIT: "20" })));
afterAll(() => platform.stop());

const get = (path: string, headers = {}) => send(platform.baseUrl, path, { headers });

it("serves the OpenAPI document at two addresses, and llms.txt lists it", async () => {
  const [short, long, llms] = await Promise.all(["/openapi.json", "/api/openapi.json", "/llms.txt"].map((path) => get(path)));
  expect(short!.text).toBe(long!.text);
  expect(short!.body).toMatchObject({ openapi: "3.1.0", externalDocs: { url: `${platform.baseUrl}/docs` } });
  expect(llms!.headers["content-type"]).toBe("text/plain; charset=utf-8");
  expect(llms!.text).toContain(`(${platform.baseUrl}/openapi.json)`);
});

it("serves every page of the guide, of operations and of the references as a page and as Markdown, as the front page and llms.txt list them", async () => {
  const [{ text: llms }, { text: front }, old] = await Promise.all([get("/llms.txt"), get("/docs"), get("/docs/guide")]);
  expect(old).toMatchObject({ status: 200, text: front });
  expect((await get("/docs/")).headers.location).toBe("/docs");
  const folder = join(__dirname, "..", "..", "..", "docs");
  const names = ["guide", "operations", "reference"].flatMap((part) =>
    readdirSync(join(folder, part), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${part}/${name}`),
  );
  expect(names.length).toBeGreaterThan(30);
  for (const name of [...names, "api.md", "api/runs.md", "api/schemas.md"]) {
    const path = `/docs/${name.replace(/\.md$/, "")}`;
    // The table of errors lists the pages of codes.
    const isListed = !name.startsWith("reference/errors/");
    expect([name, llms.includes(`(${platform.baseUrl}/docs/${name})`), front.includes(`href="${path}"`)]).toEqual([
      name,
      isListed,
      isListed,
    ]);
    const [page, markdown] = await Promise.all([get(path), get(`/docs/${name}`)]);
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect([markdown.status, markdown.headers["content-type"]]).toEqual([200, "text/markdown; charset=utf-8"]);
  }
});

it("sends browsers a page with a search for an unknown address, and programs the error", async () => {
  const browser = await get("/docs/guide/no-such-page", { accept: "text/html,*/*;q=0.8" });
  expect([browser.status, browser.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  expect(browser.text).toContain("Page not found");
  expect(browser.text).toContain('role="search"');
  const program = await get("/docs/guide/no-such-page");
  expect([program.status, program.headers["content-type"]]).toEqual([404, "application/json; charset=utf-8"]);
});

it("lets pages load only their own style, script and pictures, and compresses them for clients that support it", async () => {
  const page = await get("/docs/guide/workflows");
  expect(page.headers["content-security-policy"]).toBe(
    "default-src 'none';script-src 'self';style-src 'self';img-src 'self';base-uri 'none';form-action 'self';frame-ancestors 'none'",
  );
  const loaded = [...page.text.matchAll(/<(?:script|link rel="(?:icon|stylesheet)"|img)[^>]* (?:src|href)="([^"]+)"/g)];
  expect(loaded.length).toBeGreaterThan(3);
  for (const [, path] of loaded) expect((await get(path!)).status).toBe(200);
  const response = await fetch(`${platform.baseUrl}/docs/guide/workflows`, { headers: { "accept-encoding": "gzip" } });
  expect(response.headers.get("content-encoding")).toBe("gzip");
  expect(await response.text()).toBe(page.text);
});

it("returns 304 while its text is unchanged, and 404 for an unknown page", async () => {
  for (const path of ["/docs", "/docs/guide/runs", "/docs/site.css", "/docs/search?q=webhook"]) {
    const { headers } = await get(path);
    expect((await get(path, { "if-none-match": headers.etag, "cache-control": "no-cache" })).status).toBe(304);
  }
  for (const path of [
    "/docs/guide/nothing",
    "/docs/guide/../../package.json",
    "/docs/guide/%2e%2e/README.md",
    "/docs/guide%2f..%2fREADME.md",
    "/docs/adr/0001-eager-start-and-the-event-channel",
  ]) {
    expect((await get(path)).status).toBe(404);
  }
});

it("searches without JavaScript, within the limit of an address, and rejects a query that is too long", async () => {
  const reply = await get("/docs/search?q=signed%20webhooks");
  expect(reply.status).toBe(200);
  expect(reply.text).toMatch(/href="\/docs\/guide\/webhooks/);
  expect(reply.headers["x-ratelimit-limit"]).toBe("20");
  expect((await get(`/docs/search?q=${"a".repeat(201)}`)).body).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: "q" }] });
  const answers = await Promise.all(Array.from({ length: 25 }, () => get("/docs/search?q=runs")));
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(3);
});
