import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

interface Snippet {
  name: string;
  file: string;
  code: string;
}

const SERVICE = "services/usage/src/main.ts";
const CONCEPT = "services/billing/src/account/account.ts";
const WORKFLOW = "services/executions/src/workflow/workflows/execute-graph.ts";
const KERNEL = "services/kernel/src/credits/money.ts";
const EGRESS = "services/platform/src/egress/client.ts";

const takes = (module: string): string => `import * as taken from "${module}";\nexport const keep = taken;\n`;
const takesName = (name: string, module: string): string => `import { ${name} } from "${module}";\nexport const keep = ${name};\n`;
const takesType = (name: string, module: string): string => `import type { ${name} } from "${module}";\nexport type Keep = ${name};\n`;
const returns = (expression: string): string => `export const keep = (): unknown => ${expression};\n`;

const OUTBOUND = /Call out through platform's egress client/;
/** One file of every part that must not make outgoing calls. */
const GUARDED_FILES = [
  ...["identity", "workflows", "models", "billing", "usage", "executions", "media", "sandbox"].map(
    (name) => `services/${name}/src/main.ts`,
  ),
  "services/platform/src/config.ts",
  "gateway/src/main.ts",
  "gateway/src/routes/media/routes.ts",
  CONCEPT,
];
const CALLING_OUT: Record<string, string> = {
  fetch: returns('fetch("http://example.com")'),
  "fetch by another name": "const get = fetch;\nexport const keep = get;\n",
  "fetch of the global object": returns('globalThis.fetch("http://example.com")'),
  "a web socket": returns('new WebSocket("ws://example.com")'),
  undici: takesName("request", "undici"),
  "undici, when it is used": returns('import("undici")'),
  "undici, required": returns('require("undici")'),
  axios: takes("axios"),
  "http.request": `import http from "node:http";\n${returns('http.request("http://example.com")')}`,
  "http.get": `import http from "http";\n${returns('http.get("http://example.com")')}`,
  "request from node:http": takesName("request", "node:http"),
  "all of node:https": takes("node:https"),
  "all of https": takes("https"),
  "all of node:http2": takes("node:http2"),
  "a socket": takesName("connect", "node:net"),
  "a TLS socket": takesName("connect", "node:tls"),
};

const refusedSnippets: (Snippet & { because: RegExp })[] = [
  ...Object.entries(CALLING_OUT).map(([name, code]) => ({ name: `${name} in a service`, file: SERVICE, code, because: OUTBOUND })),
  ...GUARDED_FILES.map((file) => ({ name: `fetch in ${file}`, file, code: CALLING_OUT.fetch!, because: OUTBOUND })),
  ...GUARDED_FILES.map((file) => ({
    name: `undici in ${file}`,
    file,
    code: CALLING_OUT.undici!,
    because: OUTBOUND,
  })),
  {
    name: "a service that imports another's source",
    file: SERVICE,
    code: takes("../../billing/src/main"),
    because: /service may not import service/,
  },
  ...["note", "text-box", "switch", "approval", "workflow", "media"]
    .map((type) => `node.type === "${type}"`)
    .map((comparison) => ({
      name: `a node kind asked by its type in the console: ${comparison}`,
      file: "gateway/console/src/canvas/ports.ts",
      code: `export const keep = (node: { type: string }): boolean => ${comparison};\n`,
      because: /Ask the node kind/,
    })),
  { name: "a service that imports another's package", file: SERVICE, code: takes("@nodeloom/billing"), because: /Parts meet over gRPC/ },
  {
    name: "a service that imports another's build",
    file: SERVICE,
    code: takes("@nodeloom/billing/dist/main"),
    because: /Parts meet over gRPC/,
  },
  {
    name: "a service that imports another's types",
    file: SERVICE,
    code: takesType("Billing", "../../billing/src/billing"),
    because: /may not import/,
  },
  {
    name: "a service that imports the gateway",
    file: SERVICE,
    code: takes("../../../gateway/src/main"),
    because: /service may not import gateway/,
  },
  {
    name: "the gateway that imports a service",
    file: "gateway/src/main.ts",
    code: takes("../../services/billing/src/main"),
    because: /gateway may not import service/,
  },
  {
    name: "the gateway that imports a service's package",
    file: "gateway/src/main.ts",
    code: takes("@nodeloom/billing"),
    because: /Parts meet over gRPC/,
  },
  {
    name: "the platform that imports a service",
    file: "services/platform/src/config.ts",
    code: takes("../../usage/src/usage"),
    because: /platform may not import service/,
  },
  ...[
    ["a room of the console that imports one above it", "runs/live.ts", takes("../features/keys/keys-page")],
    ["a page of the console that imports another's", "features/usage/usage-page.tsx", takes("../keys/keys-page")],
    ["a room of the console that loads the router", "editor/context.ts", returns('import("../app/router")')],
    ["the document with the canvas", "document/edit.ts", takes("../canvas/geometry")],
  ].map(([name, path, code]) => ({
    name: name!,
    file: `gateway/console/src/${path}`,
    code: code!,
    because: /may not import this|neither React nor the network/,
  })),
  { name: "a workflow with files", file: WORKFLOW, code: takesName("readFileSync", "node:fs"), because: /Workflows import only/ },
  { name: "a workflow with the platform", file: WORKFLOW, code: takes("@nodeloom/platform"), because: /Workflows import only/ },
  ...[
    "../activities",
    "../../store/store",
    "../../lifecycle/settlement",
    "../../calls/http-request",
    "./../worker",
    "../../../../kernel/src/credits/money",
  ].map((path) => ({
    name: `a workflow with ${path}`,
    file: WORKFLOW,
    code: takes(path),
    because: /Workflows import only/,
  })),
  { name: "the kernel's other half in a workflow", file: WORKFLOW, code: takes("@nodeloom/kernel"), because: /Workflows import only/ },
  {
    name: "files in what workflows share with others",
    file: "services/executions/src/run/timing.ts",
    code: takesName("readFileSync", "node:fs"),
    because: /Workflows import only/,
  },
  { name: "a workflow that calls out", file: WORKFLOW, code: CALLING_OUT.fetch!, because: OUTBOUND },
  {
    name: "the kernel with files",
    file: KERNEL,
    code: takesName("readFileSync", "node:fs"),
    because: /The kernel has no dependency but re2js/,
  },
  {
    name: "the kernel with the platform's package",
    file: KERNEL,
    code: takes("@nodeloom/platform"),
    because: /The kernel has no dependency but re2js/,
  },
  {
    name: "the kernel with the platform's source",
    file: KERNEL,
    code: takes("../../../platform/src/config"),
    because: /kernel may not import platform/,
  },
  { name: "a concept file with mongoose", file: CONCEPT, code: takes("mongoose"), because: /Concept files know no transport/ },
  {
    name: "a concept file with mongoose's types",
    file: CONCEPT,
    code: takesType("Connection", "mongoose"),
    because: /Concept files know no transport/,
  },
  { name: "a concept file with gRPC", file: CONCEPT, code: takes("@grpc/grpc-js"), because: /Concept files know no transport/ },
  { name: "a concept file with Express", file: CONCEPT, code: takes("express"), because: /Concept files know no transport/ },
  ...["services/identity/src/keys/keys.ts", "services/executions/src/accept/runs.ts"].map((file) => ({
    name: `mongoose in ${file}`,
    file,
    code: takes("mongoose"),
    because: /Concept files know no transport/,
  })),
  {
    name: "the platform in a call of a workflow",
    file: "services/executions/src/workflow/workflows/calls/step.ts",
    code: takes("@nodeloom/platform"),
    because: /Workflows import only/,
  },
  ...["const unused = 1;\nexport {};\n", 'const unused = ["a"] as const;\nexport type Keep = (typeof unused)[number];\n'].map(
    (code, index) => ({
      name: `a constant that nothing ${index === 0 ? "uses" : "but a type uses"}`,
      file: SERVICE,
      code,
      because: /no-unused-vars/,
    }),
  ),
  {
    name: "an argument that no test uses",
    file: "gateway/test/some.test.ts",
    code: "export const keep = (unused: number) => 1;\n",
    because: /no-unused-vars/,
  },
  ...[SERVICE, "deploy/bench/src/main.ts", "gateway/console/src/runs/live.ts", "services/kernel/src/graph/types.ts"].map((file) => ({
    name: `a function that returns one without a named type in ${file}`,
    file,
    code: "export const keep = (): (() => void) => {\n  return () => undefined;\n};\n",
    because: /Give the type of the function that is returned a name/,
  })),
];

const accepted: Snippet[] = [
  { name: "an argument whose name says that it is not used", file: SERVICE, code: "export const keep = (_unused: number): number => 1;\n" },
  { name: "undici in the guarded client", file: EGRESS, code: takesName("request", "undici") },
  { name: "a server of node:http", file: SERVICE, code: takesName("createServer", "node:http") },
  { name: "the egress client", file: SERVICE, code: takesName("createEgressClient", "@nodeloom/platform") },
  {
    name: "a method that is called fetch",
    file: SERVICE,
    code: "export const keep = (store: { fetch(): void }): void => store.fetch();\n",
  },
  { name: "a service's own files", file: SERVICE, code: takes("./usage") },
  {
    name: "the kernel, platform and protocol in a service",
    file: SERVICE,
    code: ["kernel", "platform", "proto"].map((name) => `export * from "@nodeloom/${name}";\n`).join(""),
  },
  { name: "mongoose in a store", file: "services/billing/src/store.ts", code: takes("mongoose") },
  {
    name: "Temporal and the graph in a workflow",
    file: WORKFLOW,
    code: takes("@temporalio/workflow") + 'export * from "@nodeloom/kernel/graph";\n',
  },
  ...["./calls/step", "../../run/types", "../../run/timing", "../../run/graph-run", "../names"].map((path) => ({
    name: `${path} in a workflow`,
    file: WORKFLOW,
    code: takes(path),
  })),
  ...["./short", "../steps", "../../../run/timing"].map((path) => ({
    name: `${path} in a call of a workflow`,
    file: "services/executions/src/workflow/workflows/calls/step.ts",
    code: takes(path),
  })),
  { name: "types of activities in a workflow", file: WORKFLOW, code: takesType("Activities", "../activity-types") },
  { name: "types of the protocol in a workflow", file: WORKFLOW, code: takesType("executions", "@nodeloom/proto") },
  { name: "re2js in the kernel", file: KERNEL, code: takes("re2js") },
];

describe("the linter", () => {
  const judged = new Map<string, string[]>();
  beforeAll(async () => {
    const snippets = [...refusedSnippets, ...accepted];
    const child = spawn(process.execPath, [join(__dirname, "support/lint-snippets.cjs")], { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(JSON.stringify(snippets));
    const verdicts = JSON.parse(await text(child.stdout)) as string[][];
    for (const [index, { name }] of snippets.entries()) judged.set(name, verdicts[index]!);
  });

  it.each(refusedSnippets)("rejects $name", ({ name, because }) => {
    expect(judged.get(name)!.join("\n")).toMatch(because);
  });

  it.each(accepted)("accepts $name", ({ name }) => {
    expect(judged.get(name)).toEqual([]);
  });
});
