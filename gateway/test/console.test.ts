import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { unavailable } from "@nodeloom/kernel";
import express from "express";
import { appPages, type AppPagesOptions } from "../src/console/apps";
import { consoleRouter } from "../src/console/router";
import { notFound } from "../src/http/errors";

const PAGE = "<!doctype html><title>Console</title>";
const SCRIPT = "console.log('x');".repeat(200);
const HTML = "text/html,application/xhtml+xml,*/*;q=0.8";

describe("the console at the gateway", () => {
  let folder: string;
  let server: Server;
  let url: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "console-"));
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), PAGE);
    await writeFile(join(folder, "assets", "index-abc.js"), SCRIPT);
    await writeFile(join(folder, "assets", "index-abc.js.br"), brotliCompressSync(SCRIPT));
    await writeFile(join(folder, "assets", "sound-abc.mp3"), "0123456789");
    const app = express();
    app.use(consoleRouter({ folder, mediaOrigins: ["https://media.example.com"] }));
    app.use((_request, response) => void response.status(404).json({ code: "ROUTE_NOT_FOUND" }));
    server = createServer(app).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const get = (path: string, accept = HTML, method = "GET"): Promise<Response> => fetch(`${url}${path}`, { method, headers: { accept } });

  it.each(["/", "/workflows/some-slug", "/p/some-slug", "/admin/users", "/index.html"])("sends browsers its page at %s", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(PAGE);
    expect(response.headers.get("cache-control")).toBe("no-cache");
  });

  it("allows only its own scripts and styles, and shows media of configured origins", async () => {
    const policy = (await get("/")).headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';style-src 'self';");
    expect(policy).toContain("img-src 'self' blob: data: https://media.example.com");
    expect(policy).not.toContain("unsafe");
  });

  it("sends the requested range of a sound", async () => {
    const part = (range: string): Promise<Response> => fetch(`${url}/assets/sound-abc.mp3`, { headers: { range } });
    const middle = await part("bytes=2-4");
    expect([middle.status, middle.headers.get("content-range"), await middle.text()]).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await (await part("bytes=-2")).text()).toBe("89");
    const whole = await part("bytes=20-");
    expect([whole.status, await whole.text()]).toEqual([200, "0123456789"]);
  });

  it.each(["application/json", "*/*"])("leaves unknown paths to JSON for clients that accept %s", async (accept) => {
    for (const path of ["/", "/workflows/some-slug"]) expect((await get(path, accept)).status).toBe(404);
  });

  it.each(["/api", "/api/nope", "/media/nope", "/docs/nope", "/healthz", "/temporal/x"])(
    "leaves %s to the service, even for a browser",
    async (path) => {
      expect(await (await get(path)).json()).toEqual({ code: "ROUTE_NOT_FOUND" });
    },
  );

  it("returns pages only to reads, and 404 for a deleted file", async () => {
    expect((await get("/", HTML, "POST")).status).toBe(404);
    expect((await get("/assets/index-old.js")).status).toBe(404);
    expect((await get("/%2e%2e/package.json", "*/*")).status).toBe(404);
  });

  it("serves hashed files with a permanent cache, compressed by the build", async () => {
    const response = await fetch(`${url}/assets/index-abc.js`, { headers: { "accept-encoding": "br" } });
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("content-encoding")).toBe("br");
    expect(await response.text()).toBe(SCRIPT);
  });

  it("compresses nothing for clients that accept no encoding, and sends nothing twice", async () => {
    const plain = await fetch(`${url}/assets/index-abc.js`, { headers: { "accept-encoding": "identity" } });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(plain.headers.get("content-type")).toContain("javascript");
    expect(await plain.text()).toBe(SCRIPT);
    // Without this header fetch requests a new copy.
    const requestHeaders = { "accept-encoding": "identity", "cache-control": "max-age=0" };
    const conditional = { ...requestHeaders, "if-none-match": plain.headers.get("etag")! };
    expect((await fetch(`${url}/assets/index-abc.js`, { headers: conditional })).status).toBe(304);
    const head = await get("/assets/index-abc.js", "*/*", "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  it("keeps serving its first build while the folder is rebuilt or deleted", async () => {
    await rm(join(folder, "assets"), { recursive: true });
    await writeFile(join(folder, "index.html"), "half a pa");
    expect(await (await get("/")).text()).toBe(PAGE);
    expect(await (await get("/assets/index-abc.js")).text()).toBe(SCRIPT);
  });

  it("serves nothing if it wasn't built", async () => {
    expect(consoleRouter({ folder: join(folder, "nowhere"), mediaOrigins: [] }).stack).toHaveLength(0);
  });
});

describe("the pages of apps at the gateway", () => {
  let folder: string;
  let server: Server;
  let url: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "apps-"));
    for (const [name, text] of [
      ["app.html", "<!doctype html><title>App</title>"],
      ["embed.js", "void 0;"],
    ] as const)
      await writeFile(join(folder, name), text);
    const apps = {
      find: (slug: string) => {
        if (slug === "posters") return Promise.resolve({ settings: { origins: ["https://shop.example"] } });
        return Promise.reject(slug === "away" ? unavailable("workflows is away") : notFound("app"));
      },
    };
    const gateway = { apps, rateLimits: { consume: () => Promise.resolve({}) } } as unknown as AppPagesOptions["gateway"];
    const app = express();
    app.use((_request, response, next) => {
      response.setHeader("X-Frame-Options", "SAMEORIGIN");
      next();
    });
    app.use(appPages({ gateway, folder, mediaOrigins: [] }));
    server = createServer(app).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  it("can be embedded in pages of the app's origins, and of no others; the gallery in no pages of other sites", async () => {
    const framing = async (path: string): Promise<unknown[]> => {
      const { status, headers } = await fetch(`${url}${path}`);
      const policy = headers.get("content-security-policy") ?? "";
      return [status, /frame-ancestors ([^;]*)/.exec(policy)?.[1], headers.get("x-frame-options"), policy.includes("unsafe")];
    };
    expect(await framing("/a/posters")).toEqual([200, "'self' https://shop.example", null, false]);
    expect(await framing("/a/nothing")).toEqual([404, "'self'", null, false]);
    expect((await fetch(`${url}/a/away`)).status).toBe(503);
    expect(await framing("/apps/some-account")).toEqual([200, "'self'", null, false]);
  });

  it("include a script that other sites can load", async () => {
    expect((await fetch(`${url}/embed.js`)).headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  });
});
