import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { refuses } from "../../conformance/check";
import { edge, node, request, save } from "../../conformance/graphs";
import type { AbuseCase, Cast } from "../case";

/** Addresses that no user's request can reach, with the host in their error. */
const insideOf = ({ sandboxUrl, context }: Cast): [url: string, host: string][] => [
  [`${sandboxUrl}/sandbox/faults`, new URL(sandboxUrl).host],
  ["http://169.254.169.254/latest/meta-data/", "169.254.169.254"],
  [`http://[::1]:${new URL(context.baseUrl).port}/api/admin/users`, "::1"],
  ["http://2130706433/", "127.0.0.1"],
  ["http://[64:ff9b::a9fe:a9fe]/", "64:ff9b::"],
  ["http://0.0.0.0/", "0.0.0.0"],
];

const urlField = (url: string) => ({
  name: "Addresses",
  nodes: [
    node("in", "request-input", { fields: [{ name: "value", type: "text", label: "value" }] }),
    node("get", "http-request", { method: "GET", url, headers: { authorization: "Bearer of the author" } }),
    node("out", "response-output"),
  ],
  edges: [edge("in.value", "get.value"), edge("get.body", "out.body")],
});

const slugs = { url: "", segment: "", images: "" };
const runs = async ({ unlimited }: Cast, slug: string, inputs: Record<string, unknown>) =>
  unlimited.post(`/api/workflows/${slug}/run`, { inputs });

/**
 * Sends a request with a custom Host header.
 * @returns the status
 */
const statusWithHost = (url: string, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { headers: { host }, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    outgoing.on("error", reject);
    outgoing.end();
  });

/** Statuses from the administrators' listener, from the UI behind it, and after an address's rate limit. */
const FOREIGN_STATUSES = [403, 404, 421, 429];

export const addressCases: AbuseCase[] = [
  {
    id: "addresses-inside",
    title: "HTTP nodes that lead to the sandbox's control routes, to metadata and loopback in every notation",
    requests: 6,
    prepare: async ({ unlimited }) => {
      slugs.url = await save(unlimited, urlField("{{value}}"));
    },
    attack: async (cast) => {
      for (const [value, host] of insideOf(cast)) {
        const answer = refuses(await runs(cast, slugs.url, { value }), 500, "EXECUTION_FAILED");
        assert.ok(String(answer.body.error).includes(host), `${value}: ${String(answer.body.error)}`);
      }
    },
  },
  {
    id: "addresses-segments",
    title: "placeholders that climb out of their path, or out of the host, with the author's headers",
    requests: 4,
    prepare: async ({ unlimited }) => {
      slugs.segment = await save(unlimited, urlField("https://nodeloom.invalid/users/{{value}}/picture"));
    },
    attack: async (cast) => {
      for (const value of ["..", "%2e%2e", "a/../../..", ".%2E"]) {
        // Text without dots stays in its segment and is sent to a host that doesn't exist.
        const answer = await runs(cast, slugs.segment, { value });
        assert.ok([422, 500].includes(answer.status), `${value}: ${answer.status} ${answer.text}`);
        assert.match(String(answer.body.error), /\{\{value\}\}|nodeloom\.invalid/);
      }
    },
  },
  {
    id: "addresses-results",
    title: "texts that aren't files as pictures of a result",
    requests: 3,
    prepare: async ({ unlimited }) => {
      const fields = [{ name: "value", type: "text", label: "value" }];
      slugs.images = await save(unlimited, {
        name: "Pictures",
        nodes: [node("in", "request-input", { fields }), node("out", "response-output")],
        edges: [edge("in.value", "out.images")],
      });
    },
    attack: async (cast) => {
      for (const value of ["javascript:alert(1)", "data:text/html;base64,PHNjcmlwdD4=", "http://169.254.169.254/x.png"]) {
        const answer = await runs(cast, slugs.images, { value });
        assert.ok([422, 500].includes(answer.status), `${value}: ${answer.status} ${answer.text}`);
      }
    },
  },
  {
    id: "addresses-inputs",
    title: "private addresses as media and inside JSON inputs of a model",
    requests: 2,
    attack: async ({ unlimited }) => {
      for (const image of ["http://169.254.169.254/x.png", "http://127.0.0.1:1/x.png"]) {
        const inputs = { prompt: "a loom", image };
        refuses(await unlimited.post("/api/models/sandbox-image-fast/run", { inputs }), 400, "INVALID_INPUTS");
      }
    },
  },
  {
    id: "addresses-extract",
    title: "an extract that isn't a pointer",
    attack: async ({ unlimited }) => {
      const graph = request({ url: "https://nodeloom.invalid/", extract: "/items/*/name" });
      const slug = await save(unlimited, graph);
      refuses(await unlimited.post(`/api/workflows/${slug}/run`, { inputs: {} }), 422, "WORKFLOW_INVALID");
      await unlimited.delete(`/api/workflows/${slug}`);
    },
  },
  {
    id: "addresses-rebinding",
    title: "a page that was given this machine's address asks Temporal's UI by its own name",
    requests: 2,
    attack: async ({ temporalUiUrl }) => {
      if (temporalUiUrl === undefined) return;
      for (const path of ["", "/api/v1/namespaces"]) {
        const status = await statusWithHost(`${temporalUiUrl}${path}`, "pages.example:8233");
        assert.ok(FOREIGN_STATUSES.includes(status), `${path}: ${status}`);
      }
    },
  },
];
