import { spawnSync } from "node:child_process";
import { apiPages } from "../../src/docs/api/pages";
import type { ApiDocument } from "../../src/docs/api/document";
import { explorerDocument } from "../../src/docs/explorer";
import { groupsOf } from "../../src/docs/site/contents";
import { renderPage, sectionsOf, type Links } from "../../src/docs/site/markdown";
import { createSearch } from "../../src/docs/site/search";
import { createSite } from "../../src/docs/site/site";
import { document } from "../support/document";
import { snippetsOf } from "../../../test-support/snippets";

const api = document as unknown as ApiDocument;
const site = createSite(api, JSON.stringify(api));
const paths = site.groups.flatMap(({ entries }) => entries.map(({ path }) => path));

const NO_LINKS: Links = { addressOf: () => undefined, isPage: () => false };

describe("the contents", () => {
  it("match docs/README.md: each page once, under a purpose, and no page is missing", () => {
    const titles = site.groups.map(({ title }) => title);
    expect(titles).toEqual(["Start", "Concepts", "Build", "Call", "Models", "Operate", "Reference"]);
    expect(new Set(paths).size).toBe(paths.length);
  });

  it("list a page missing in the list in a separate group", () => {
    const files = new Set(["guide/a.md", "guide/b.md", "guide/b.svg"]);
    expect(groupsOf("# T\n\n## Start\n\n- [A](guide/a.md): about it\n- [Code](../x.md)\n\n## None\n\ntext\n", files)).toEqual([
      { title: "Start", entries: [{ path: "guide/a", label: "A", about: "about it" }] },
      { title: "More", entries: [{ path: "guide/b", label: "b", about: "" }] },
    ]);
  });
});

describe("a page", () => {
  it("has the same anchors as on GitHub, including the second of two equal headings", () => {
    const { html, headings, title } = renderPage("# A `b`, c!\n\n## Same\n\n## Same\n", "p.md", NO_LINKS);
    expect(title).toBe("A b, c!");
    expect(html).toContain('<h1 id="a-b-c">');
    expect(headings.map(({ id }) => id)).toEqual(["same", "same-1"]);
  });

  it("shows code as text, whatever it contains, in the colours of its language", () => {
    const { html } = renderPage('```ts run\nconst a = "<b>";\n```\n\n```none\n<script>\n```\n', "p.md", NO_LINKS);
    expect(html).toContain('<span class="hljs-keyword">const</span>');
    expect(html).toContain("&lt;b&gt;");
    expect(html).toContain("&lt;script&gt;");
    expect(html).not.toContain("<script>");
  });

  it("is searched by its headings, without collapsed parts", () => {
    const text =
      "# One\n\nfirst `code`\n\n## Two\n\n| a | b |\n| --- | --- |\n| c | d |\n\n<details><summary>s</summary>\n\nhidden\n\n</details>\n\nlast\n";
    expect(sectionsOf(text).map(({ id, body }) => [id, body])).toEqual([
      ["one", "first code"],
      ["two", "a b c d last"],
    ]);
  });
});

describe("all pages", () => {
  const rendered = new Map(paths.map((path) => [path, site.html(path)!]));
  const front = site.front();

  it("are linked from the front page, which starts with the four quick starts", () => {
    for (const path of paths) expect(front).toContain(`href="/docs/${path}"`);
    const cards = [...front.matchAll(/<a href="([^"]+)"><strong>/g)].map(([, address]) => address);
    expect(cards).toEqual(["developer", "agent", "other-editors", "operator"].map((who) => `/docs/guide/start-${who}`));
  });

  it("link only to served pages, headings and pictures", () => {
    const served = (address: string): boolean => {
      const [path = "", fragment] = address.slice("/docs/".length).split("#");
      const page = rendered.get(path) ?? site.html(path);
      if (page === undefined) return site.file(path) !== undefined;
      return fragment === undefined || page.includes(`id="${decodeURIComponent(fragment)}"`);
    };
    const broken = [...rendered].flatMap(([path, html]) => {
      const main = html.slice(html.indexOf("<main"));
      return [...main.matchAll(/(?:href|src)="([^"]+)"/g)]
        .map(([, target]) => (target!.startsWith("#") ? `/docs/${path}${target}` : target!))
        .filter((target) => target.startsWith("/docs/") && !target.endsWith(".md") && !["/docs/explorer"].includes(target))
        .filter((target) => !served(target))
        .map((target) => `${path}: ${target}`);
    });
    expect(broken).toEqual([]);
  });

  it("load nothing from other hosts, and contain no inline script or style", () => {
    for (const html of [front, ...rendered.values()]) {
      expect([...html.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="(https?:|\/\/)/g)]).toEqual([]);
      expect(html).not.toMatch(/<script>|<style|<[^>]+\s(?:style|on\w+)=/);
    }
  });
});

describe("the reference of the API", () => {
  const pages = apiPages(api);
  const texts = new Map(pages.map((page) => [page.path, page.markdown(api)]));
  const text = (path: string): string => texts.get(path)!;

  it("has every operation on the page of its tag, with its parameters, members, responses and a call", () => {
    for (const [path, methods] of Object.entries(api.paths))
      for (const [method, operation] of Object.entries(methods)) {
        const page = text(pages.find(({ label }) => label === `API: ${operation.tags[0]!}`)!.path);
        const section = page.split(`\n## ${operation.summary}\n`)[1]?.split("\n## ")[0] ?? "";
        expect(section).toContain(`\`${method.toUpperCase()} ${path}\`, operation \`${operation.operationId}\``);
        for (const { name } of operation.parameters ?? []) expect(section).toContain(`| \`${name}\` |`);
        for (const status of Object.keys(operation.responses)) expect(section).toContain(status);
        expect(section).toContain("```sh call\ncurl ");
      }
  });

  it("shows calls that a shell can parse, with JSON bodies", () => {
    const calls = [...texts].flatMap(([path, page]) => snippetsOf(path, page).filter(({ language }) => language === "sh"));
    expect(calls.length).toBeGreaterThan(100);
    expect(spawnSync("bash", ["-n"], { input: calls.map(({ code }) => code).join("\n"), encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
    const bodies = calls.flatMap(({ code }) => /-d '(.*)'$/ms.exec(code)?.[1]?.replaceAll("'\\''", "'") ?? []);
    expect(bodies.length).toBeGreaterThan(30);
    for (const body of bodies) expect(() => JSON.parse(body) as unknown).not.toThrow();
  });

  it("states requirements, inputs and results of a run", () => {
    const section = text("api/runs")
      .split("\n## ")
      .find((part) => part.includes("operation `runWorkflow`"))!;
    for (const phrase of [
      "`workflow:<id>:run`",
      "`maxCredits`",
      "[RunResult](schemas.md#runresult)",
      "`INSUFFICIENT_CREDITS`",
      "Idempotency-Key",
    ])
      expect(section).toContain(phrase);
  });

  it("has every schema and webhook", () => {
    for (const name of Object.keys(api.components.schemas)) expect(text("api/schemas")).toContain(`\n## ${name}\n`);
    for (const name of Object.keys(api.webhooks)) expect(text("api/webhooks")).toContain(`\n## ${name}\n`);
  });
});

describe("the explorer", () => {
  it("reads a document with every operation and error code, in less than half the size", () => {
    const text = JSON.stringify(api);
    const small = explorerDocument(text);
    expect(small.length).toBeLessThan(text.length / 2);
    const { paths, components } = JSON.parse(small) as ApiDocument;
    expect(components).toEqual(JSON.parse(JSON.stringify(api.components)));
    for (const [path, methods] of Object.entries(api.paths))
      for (const [method, { operationId, responses }] of Object.entries(methods)) {
        expect(paths[path]![method]!.operationId).toBe(operationId);
        for (const [status, { description }] of Object.entries(responses))
          expect(paths[path]![method]!.responses[status]!.description).toBe(description);
      }
  });
});

describe("the search", () => {
  it("finds a section by its words, their beginnings and a misspelling, headings first", async () => {
    expect(await site.search("idempot")).toContain('href="/docs/guide/idempotency"');
    const page = await site.search("webhok signature");
    expect(page).toContain("/docs/guide/webhooks#verify-the-signature");
    expect(page).toContain("<mark>");
    expect(await site.search("zzzzqqq")).toContain("Nothing was found");
  });

  it.each([
    ["staging", "guide/staging-and-production"],
    ["rollback", "guide/staging-and-production"],
    ["promote", "guide/staging-and-production"],
    ["sso", "operations/sign-in"],
    ["gdpr", "operations/retention"],
    ["429", "reference/errors/RATE_LIMIT_EXCEEDED"],
    ["pricing", "guide/credits"],
    ["cron", "guide/schedules-and-hooks"],
    ["callback", "guide/webhooks"],
  ])("understands %s, a word of other products", async (word, path) => {
    const [, results = ""] = (await site.search(word)).split('<ol class="found">');
    const addresses = [...results.matchAll(/<li><a href="\/docs\/([^"#]+)/g)].map(([, address]) => address);
    expect(addresses.slice(0, 5)).toContain(path);
  });

  it("shows the query as text", async () => {
    const page = await site.search('"><script>alert(1)</script>');
    expect(page).not.toContain("<script>alert");
    expect(page).toContain("&quot;&gt;&lt;script&gt;");
  });

  it("reads the pages once, and limits its results", async () => {
    let reads = 0;
    const pages = function* () {
      reads += 1;
      for (let at = 0; at < 50; at += 1) {
        yield { address: `/docs/${at}`, title: `Page ${at}`, markdown: `# Page ${at}\n\nthe same word\n`, isReference: at < 20 };
      }
    };
    const search = createSearch(pages);
    const [first, second] = await Promise.all([search.find("word"), search.find("word")]);
    expect(reads).toBe(1);
    expect(first.map(({ address }) => Number(address.slice("/docs/".length))).every((at) => at >= 20)).toBe(true);
    expect(first).toHaveLength(30);
    expect(second).toEqual(first);
  });
});
