import assert from "node:assert/strict";
import { inSection, type Case, type CaseOptions } from "../case";
import { answers, exactly, fits, is, pick, refuses } from "../check";
import type { Answer } from "../../../../test-support/client";
import { paced, type Actor, type Context } from "../context";
import { clip, echo, edge, node, picture, request, runGraph, save } from "../graphs";

const engine = inSection("D10");
const egress = inSection("D9");
const NEEDS: CaseOptions = { needs: ["receiver"] };
const QUICK = { sandbox: { latencyMs: 10 } };

const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "engine");
const out = node("out", "response-output");

const resultOf = async (ctx: Context, graph: object, inputs: Record<string, unknown> = {}): Promise<unknown> =>
  pick(answers(await runGraph(await user(ctx), graph, inputs), 200), "result");

const VALUES: readonly [type: string, value: unknown, extra?: Record<string, unknown>][] = [
  ["text", "a heron"],
  ["textarea", "two\nlines"],
  ["number", 1.5],
  ["boolean", false],
  ["select", "b", { options: ["a", "b"] }],
  ["json", { a: [1, null, { b: "c" }] }],
];

const values: Case[] = [
  ...VALUES.map(([type, value, extra]) =>
    engine(`a ${type} field returns its value unchanged`, async (ctx) => {
      assert.deepEqual(await resultOf(ctx, echo({ name: "field", type, ...extra }), { field: value }), { value });
    }),
  ),
  ...(["image", "video", "audio"] as const).map((kind) =>
    engine(`an ${kind}_upload field accepts http(s) and data URLs`, async (ctx) => {
      const graph = echo({ name: "field", type: `${kind}_upload` });
      for (const field of ["https://example.com/file", `data:${kind}/x;base64,AAAA`]) {
        answers(await runGraph(await user(ctx), graph, { field }), 200);
      }
    }),
  ),
  engine("a data URL whose bytes can't be read isn't a file", async (ctx) => {
    const answer = await runGraph(await user(ctx), echo({ name: "field", type: "image_upload" }), { field: "data:image/png;base64,####" });
    refuses(answer, 400, "INVALID_INPUTS");
  }),
  engine("a list of files flows in order, and the next node runs once for each", async (ctx) => {
    const files = ["a", "b", "c"].map((name) => `https://example.com/${name}.png`);
    const field = { name: "files", type: "image_upload", label: "Files", multiple: true };
    const graph = {
      nodes: [node("in", "request-input", { fields: [field] }), node("box", "text-box", { text: "{{file}}" }), out],
      edges: [edge("in.files", "box.file"), edge("box.text", "out.values")],
    };
    assert.deepEqual(await resultOf(ctx, graph, { files }), { values: files });
    for (const inputs of [{}, { files: [] }, { files: null }]) assert.deepEqual(await resultOf(ctx, graph, inputs), { values: [] });
    const answer = await runGraph(await user(ctx), graph, { files: [...files, "ftp://example.com/d.png"] });
    refuses(answer, 400, "INVALID_INPUTS", { issues: [{ path: "inputs.files.3", message: is.text }] });
    refuses(await runGraph(await user(ctx), graph, { files: Array.from({ length: 51 }, () => files[0]) }), 400, "INVALID_INPUTS");
  }),
  engine("a list of files without any can be required, and its declaration is checked", async (ctx) => {
    const field = { name: "files", type: "image_upload", multiple: true };
    const missing = await runGraph(await user(ctx), echo({ ...field, required: true }), { files: [] });
    refuses(missing, 400, "INVALID_INPUTS", { issues: [{ path: "inputs.files", message: is.text }] });
    for (const wrong of [
      { ...field, maxItems: 1_001 },
      { ...field, maxItems: 0 },
      { ...field, type: "text" },
      { ...field, default: 7 },
    ])
      refuses(await runGraph(await user(ctx), echo(wrong), {}), 422, "WORKFLOW_INVALID");
  }),
  engine("a file input with a default takes it if it is omitted, and stays empty if it is null or empty text", async (ctx) => {
    const sample = "https://example.com/sample.png";
    const graph = echo({ name: "photo", type: "image_upload", default: sample });
    assert.deepEqual(await resultOf(ctx, graph), { value: sample });
    for (const photo of [null, ""]) assert.deepEqual(await resultOf(ctx, graph, { photo }), { value: null });
  }),
  engine("without a Response Output node the result is empty", async (ctx) => {
    assert.deepEqual(await resultOf(ctx, { nodes: [node("a", "text-box", { text: "x" })] }), {});
  }),
  engine("a text box fills every placeholder", async (ctx) => {
    const fields = ["a", "b"].map((name) => ({ name, type: "text", label: name }));
    const graph = {
      nodes: [node("in", "request-input", { fields }), node("box", "text-box", { text: "{{x}} and {{y}} and {{x}}" }), out],
      edges: [edge("in.a", "box.x"), edge("in.b", "box.y"), edge("box.text", "out.text")],
    };
    assert.deepEqual(await resultOf(ctx, graph, { a: "one", b: "two" }), { text: "one and two and one" });
  }),
  engine("a placeholder without a link takes the literal with its name", async (ctx) => {
    const box = node("box", "text-box", { text: "{{x}} {{y}}", x: "one", inputs: { y: "two" } });
    const graph = { nodes: [box, out], edges: [edge("box.text", "out.text")] };
    assert.deepEqual(await resultOf(ctx, graph), { text: "one two" });
  }),
  engine("an unresolved placeholder is empty, and a warning on its node", async (ctx) => {
    const graph = { nodes: [node("box", "text-box", { text: "[{{nobody}}]" }), out], edges: [edge("box.text", "out.text")] };
    const answer = answers(await runGraph(await user(ctx), graph), 200, { result: { text: "[]" } });
    const polled = await (await user(ctx)).get(`/api/executions/${answer.headers.get("x-execution-id")}`);
    const box = pick<{ id: string; warnings?: string[] }[]>(polled, "nodes").find(({ id }) => id === "box");
    assert.match((box?.warnings ?? []).join(), /nobody/);
  }),
  engine("a run without a result shows the reason on its last node", async (ctx) => {
    const bypassed = node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "x" }, bypass: true });
    const graphs = [
      { nodes: [node("box", "text-box", { text: "x" })], edges: [] },
      { nodes: [node("box", "text-box", { text: "x" }), out], edges: [] },
      { nodes: [bypassed, out], edges: [edge("pic.image", "out.images")] },
    ];
    for (const graph of graphs) {
      const answer = answers(await runGraph(await user(ctx), graph), 200, { result: {} });
      const polled = await (await user(ctx)).get(`/api/executions/${answer.headers.get("x-execution-id")}`);
      assert.match((pick<{ warnings?: string[] }[]>(polled, "nodes").at(-1)?.warnings ?? []).join(), /the run has no result/);
    }
  }),
  engine("a list appends linked values in edge order", async (ctx) => {
    const graph = {
      nodes: [node("a", "text-box", { text: "A" }), node("b", "text-box", { text: "B" }), node("list", "list", { items: ["own"] }), out],
      edges: [edge("b.text", "list.items"), edge("a.text", "list.items"), edge("list.items", "out.all")],
    };
    assert.deepEqual(await resultOf(ctx, graph), { all: ["own", "B", "A"] });
  }),
  engine("several edges into one port are a list in edge order", async (ctx) => {
    const graph = {
      nodes: [node("a", "text-box", { text: "A" }), node("b", "text-box", { text: "B" }), out],
      edges: [edge("b.text", "out.both"), edge("a.text", "out.both")],
    };
    assert.deepEqual(await resultOf(ctx, graph), { both: ["B", "A"] });
  }),
  engine("lists of texts are joined by blank lines in text", async (ctx) => {
    const graph = {
      nodes: [node("list", "list", { items: ["one", "two"] }), out],
      edges: [edge("list.items", "out.text")],
    };
    assert.deepEqual(await resultOf(ctx, graph), { text: "one\n\ntwo" });
  }),
  engine("a list linked to a single-value port maps the node, in order", async (ctx) => {
    const graph = {
      nodes: [node("list", "list", { items: ["a", "b", "c"] }), node("box", "text-box", { text: "<{{x}}>" }), out],
      edges: [edge("list.items", "box.x"), edge("box.text", "out.all")],
    };
    assert.deepEqual(await resultOf(ctx, graph), { all: ["<a>", "<b>", "<c>"] });
  }),
  engine("two lists are mapped pairwise, and single values repeat", async (ctx) => {
    const graph = {
      nodes: [
        node("l", "list", { items: ["a", "b"] }),
        node("r", "list", { items: ["1", "2"] }),
        node("s", "text-box", { text: "!" }),
        node("box", "text-box", { text: "{{x}}{{y}}{{z}}" }),
        out,
      ],
      edges: [edge("l.items", "box.x"), edge("r.items", "box.y"), edge("s.text", "box.z"), edge("box.text", "out.all")],
    };
    assert.deepEqual(await resultOf(ctx, graph), { all: ["a1!", "b2!"] });
  }),
  engine("two lists of different lengths fail the run, naming the node", async (ctx) => {
    const graph = {
      nodes: [
        node("l", "list", { items: ["a", "b"] }),
        node("r", "list", { items: ["1"] }),
        node("box", "text-box", { text: "{{x}}{{y}}" }),
      ],
      edges: [edge("l.items", "box.x"), edge("r.items", "box.y")],
    };
    const answer = await runGraph(await user(ctx), graph);
    assert.ok([422, 500].includes(answer.status), `the status is ${answer.status}`);
    answers(answer, answer.status, { error: is.like(/length/), code: is.text });
  }),
  engine("more than 50 items are not mapped", async (ctx) => {
    const items = (count: number): object => ({
      nodes: [
        node("l", "list", { items: Array.from({ length: count }, (_, index) => `${index}`) }),
        node("box", "text-box", { text: "{{x}}" }),
        out,
      ],
      edges: [edge("l.items", "box.x"), edge("box.text", "out.all")],
    });
    answers(await runGraph(await user(ctx), items(50)), 200);
    const answer = await runGraph(await user(ctx), items(51));
    assert.ok([422, 500].includes(answer.status), `the status is ${answer.status}`);
    answers(answer, answer.status, { error: is.like(/50/), code: is.text });
  }),
  engine("a node whose `maxItems` allows it is mapped over more than 50 items, in their order", async (ctx) => {
    const texts = Array.from({ length: 51 }, (_, index) => `number ${index}`);
    const graph = (maxItems: number): object => ({
      nodes: [
        node("l", "list", { items: texts }),
        node("chat", "llm-assistant", { model: "sandbox-chat", maxItems, inputs: { prompt: "{{x}}" } }),
        out,
      ],
      edges: [edge("l.items", "chat.x"), edge("chat.text", "out.all")],
    });
    const all = pick<string[]>(answers(await runGraph(await user(ctx), graph(60)), 200), "result.all");
    assert.deepEqual(
      all.map((text) => /number \d+/i.exec(text)?.[0].toLowerCase()),
      texts,
    );
    refuses(await runGraph(await user(ctx), graph(50)), 422, "WORKFLOW_INVALID");
    refuses(await runGraph(await user(ctx), graph(1_001)), 422, "WORKFLOW_INVALID");
  }),
];

const nodes: Case[] = [
  engine("a linked port overrides the literal with the same name", async (ctx) => {
    const graph = {
      nodes: [node("l", "list", { items: ["a", "b"] }), ...picture({ prompt: "literal", ...QUICK }).nodes],
      edges: [edge("l.items", "pic.prompt"), edge("pic.image", "out.images")],
    };
    const { images } = (await resultOf(ctx, graph)) as { images: { url: string }[] };
    const literal = (await resultOf(ctx, picture({ prompt: "a", ...QUICK }))) as { images: { url: string }[] };
    const bytes = async ({ url }: { url: string }): Promise<Buffer> => Buffer.from(await (await fetch(url)).arrayBuffer());
    assert.equal(images.length, 2);
    assert.ok((await bytes(images[0]!)).equals(await bytes(literal.images[0]!)));
  }),
  engine("placeholders in a generator's text inputs are ports", async (ctx) => {
    const graph = {
      nodes: [node("box", "text-box", { text: "a heron" }), ...picture({ prompt: "{{animal}} at dusk", ...QUICK }).nodes],
      edges: [edge("box.text", "pic.animal"), edge("pic.image", "out.images")],
    };
    fits(await resultOf(ctx, graph), { images: [{ url: is.text }] });
  }),
  engine("an LLM assistant takes prompt and system, and returns text", async (ctx) => {
    const graph = {
      nodes: [
        node("box", "text-box", { text: "looms" }),
        node("llm", "llm-assistant", {
          model: "sandbox-chat",
          system: "Be brief.",
          prompt: "Tell of {{topic}}",
          maxTokens: 50,
          temperature: 0.5,
        }),
        out,
      ],
      edges: [edge("box.text", "llm.topic"), edge("llm.text", "out.text")],
    };
    fits(await resultOf(ctx, graph), exactly({ text: is.text }));
  }),
  engine("a media value has url and contentType", async (ctx) => {
    const graph = { ...picture(QUICK), edges: [edge("pic.image", "out.thing")] };
    const thing = is.url(`${ctx.baseUrl}/media/`);
    fits(await resultOf(ctx, graph), { thing: { url: thing, contentType: is.like(/^image\//) } });
  }),
  engine("a generator with several outputs returns a list", async (ctx) => {
    fits(await resultOf(ctx, picture({ count: 2, ...QUICK }, "sandbox-image")), { images: [{ url: is.text }, { url: is.text }] });
  }),
  engine("every node shows its outputs, including nodes that only process values", async (ctx) => {
    const owner = await user(ctx);
    const long = "x".repeat(5_000);
    const graph = {
      nodes: [
        node("in", "request-input", { fields: [{ name: "who", type: "text", label: "Who", default: "Ada" }] }),
        node("words", "list", { items: ["a", "b"] }),
        node("pick", "json", { value: '{"n": [1, 2]}', expression: "n" }),
        node("long", "text-box", { text: long }),
        node("each", "text-box", { text: "{{who}} {{word}}" }),
        node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "x" } }),
        node("after", "text-box", { text: "seen: {{picture}}" }),
        out,
      ],
      edges: [
        edge("in.who", "each.who"),
        edge("words.items", "each.word"),
        edge("pic.image", "after.picture"),
        edge("after.text", "out.text"),
      ],
    };
    const answer = answers(await runGraph(owner, graph), 200);
    const path = `/api/executions/${answer.headers.get("x-execution-id") ?? ""}`;
    const nodes = pick<{ id: string; outputs?: unknown; truncated?: boolean }[]>(answers(await owner.get(path), 200), "nodes");
    const outputsById = Object.fromEntries(nodes.map(({ id, outputs, truncated }) => [id, truncated ? { outputs, truncated } : outputs]));
    fits(outputsById, {
      in: { who: "Ada" },
      words: { items: ["a", "b"] },
      pick: { value: [1, 2] },
      long: { outputs: { text: long.slice(0, 4_096) }, truncated: true },
      each: { text: ["Ada a", "Ada b"] },
      after: { text: pick(answer, "result.text") },
    });
  }),
  engine("a field with an unknown type, or with a default of the wrong type, is WORKFLOW_INVALID", async (ctx) => {
    for (const field of [{ type: "nubmer" }, { type: "number", default: "red" }, { type: "select", options: ["a"], default: "b" }]) {
      const fields = [{ name: "tint", label: "Tint", ...field }];
      const graph = { nodes: [node("in", "request-input", { fields }), out], edges: [edge("in.tint", "out.tint")] };
      const answer = refuses(await runGraph(await user(ctx), graph), 422, "WORKFLOW_INVALID", { issues: [{ nodeId: "in" }] });
      assert.match(
        pick(answer, "issues.0.message"),
        field.type === "nubmer" ? /did you mean number\?/ : /^field tint: its default does not fit: must be/,
      );
    }
  }),
  engine("notes never run, whatever they contain", async (ctx) => {
    const graph = {
      nodes: [node("n", "note", { model: "nope", url: 7 }), node("a", "text-box", { text: "x" }), out],
      edges: [edge("a.text", "out.text")],
    };
    assert.deepEqual(await resultOf(ctx, graph), { text: "x" });
  }),
  engine("independent nodes run in parallel", async (ctx) => {
    await paced(async (seconds) => {
      const slow = (id: string): unknown =>
        node(id, "generate-image", { model: "sandbox-image-fast", inputs: { prompt: id, sandbox: { latencyMs: seconds * 1_000 } } });
      const answer = answers(await runGraph(await user(ctx), { nodes: ["a", "b", "c", "d"].map(slow) }), 200);
      const polled = await (await user(ctx)).get(`/api/executions/${answer.headers.get("x-execution-id")}`);
      const times = pick<{ startedAt: string; durationMs: number }[]>(polled, "nodes");
      const lastStart = Math.max(...times.map(({ startedAt }) => Date.parse(startedAt)));
      const firstEnd = Math.min(...times.map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs));
      return lastStart < firstEnd;
    });
  }),
  engine("every node of a completed run has a start and a duration", async (ctx) => {
    const graph = clip({ latencyMs: 10 });
    graph.nodes.push(node("early", "text-box", { text: "x" }));
    const answer = answers(await runGraph(await user(ctx), graph), 200);
    const polled = await (await user(ctx)).get(`/api/executions/${answer.headers.get("x-execution-id")}`);
    const states = pick<{ id: string; status: string; startedAt: string | null; durationMs: number | null }[]>(polled, "nodes");
    assert.deepEqual(
      states.filter(({ status, startedAt, durationMs }) => status !== "completed" || startedAt === null || durationMs === null),
      [],
    );
  }),
  engine("a failure names its node, and later nodes are skipped", async (ctx) => {
    const answer = await runGraph(await user(ctx), clip({ latencyMs: 10, fail: "job" }));
    const polled = await (await user(ctx)).get(`/api/executions/${answer.headers.get("x-execution-id")}`);
    const states = pick<{ id: string; status: string; error: unknown }[]>(polled, "nodes");
    fits(
      states.find(({ id }) => id === "clip"),
      { status: "failed", error: { code: "EXECUTION_FAILED" } },
    );
    fits(
      states.find(({ id }) => id === "out"),
      { status: "skipped" },
    );
  }),
  engine(
    "an http-request node returns status and extracted body",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox(
        (response) => void response.writeHead(201, { "content-type": "application/json" }).end('{"a":{"b":[1,{"c":"deep"}]}}'),
      );
      assert.deepEqual(await resultOf(ctx, request({ url: inbox.url, extract: "/a/b/1/c" })), { body: "deep", status: 201 });
    },
    NEEDS,
  ),
  engine(
    "an http-request node sends method, headers and body, with placeholders filled",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox();
      const graph = {
        nodes: [
          node("box", "text-box", { text: "heron" }),
          node("get", "http-request", {
            method: "POST",
            url: inbox.url,
            headers: { "x-animal": "{{animal}}" },
            body: { animal: "{{animal}}" },
          }),
          out,
        ],
        edges: [edge("box.text", "get.animal"), edge("get.status", "out.status")],
      };
      assert.deepEqual(await resultOf(ctx, graph), { status: 204 });
      fits(inbox.deliveries[0]!.headers, { "x-animal": "heron" });
      assert.deepEqual(JSON.parse(inbox.deliveries[0]!.body), { animal: "heron" });
    },
    NEEDS,
  ),
  engine(
    "nodes that the output doesn't need also run",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox();
      const graph = {
        nodes: [node("get", "http-request", { method: "GET", url: inbox.url }), node("a", "text-box", { text: "x" }), out],
        edges: [edge("a.text", "out.text")],
      };
      assert.deepEqual(await resultOf(ctx, graph), { text: "x" });
      assert.equal(inbox.deliveries.length, 1);
    },
    NEEDS,
  ),
];

const FORBIDDEN: readonly string[] = [
  "http://127.0.0.1:1/",
  "http://localhost:1/",
  "http://0.0.0.0:1/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://192.168.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.64.0.1/",
  "http://224.0.0.1/",
  "http://[::1]:1/",
  "http://[fe80::1]/",
  "http://[fc00::1]/",
  "http://[ff02::1]/",
  "http://[::ffff:127.0.0.1]:1/",
  "http://[64:ff9b::7f00:1]/",
  "http://[2002:7f00:1::]/",
  "http://2130706433:1/",
  "http://0x7f.1:1/",
  "ftp://example.com/",
  "file:///etc/passwd",
];

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Images in a graph's result if an HTTP node gets this value. */
const imagesOf = async (ctx: Context, value: unknown): Promise<Answer> => {
  const inbox = ctx.receiver!.inbox((response) => void response.setHeader("content-type", "application/json").end(JSON.stringify(value)));
  const graph = { nodes: [node("web", "http-request", { url: inbox.url }), out], edges: [edge("web.body", "out.images")] };
  return runGraph(await user(ctx), graph);
};

const filesAreOurs = async (ctx: Context): Promise<void> => {
  const origin = ctx.receiver!.inbox((response) => void response.end(Buffer.from(PNG, "base64")));
  const answer = answers(await imagesOf(ctx, [origin.url, { url: origin.url }]), 200);
  const files = pick<{ url: string }[]>(answer, "result.images");
  assert.equal(files.length, 2);
  for (const { url } of files) assert.ok(url.startsWith(`${ctx.baseUrl}/media/`), url);
};

const noFiles = async (ctx: Context): Promise<void> => {
  for (const value of ["javascript:alert(1)", `data:image/png;base64,${PNG}`, "file:///etc/passwd", 7, "http://10.0.0.1/a.png"])
    refuses(await imagesOf(ctx, value), 500, "EXECUTION_FAILED", { nodeId: "out" });
};

const outbound: Case[] = [
  ...FORBIDDEN.map((url) =>
    egress(`${url} is rejected without a connection`, async (ctx) => {
      const answer = await runGraph(await user(ctx), request({ url }));
      assert.ok([422, 500].includes(answer.status), `${answer.status}: ${answer.text}`);
      answers(answer, answer.status, { code: is.oneOf("EXECUTION_FAILED", "WORKFLOW_INVALID"), error: is.text });
      assert.doesNotMatch(answer.text, /ECONNREFUSED|EHOSTUNREACH|timed? ?out/i);
    }),
  ),
  egress("the error names the rejected host", async (ctx) => {
    const answer = refuses(
      await runGraph(await user(ctx), request({ url: "http://10.0.0.1:8081/inside?token=1" })),
      500,
      "EXECUTION_FAILED",
    );
    assert.match(answer.text, /10\.0\.0\.1:8081/);
  }),
  egress("a private address in a model's inputs is rejected, whichever service would call it", async (ctx) => {
    for (const image of ["http://10.0.0.1/a.png", "http://localhost/a.png", "http://169.254.169.254/latest"])
      refuses(await (await user(ctx)).post("/api/models/sandbox-image/run", { inputs: { prompt: "x", image } }), 400, "INVALID_INPUTS");
  }),
  egress("a private address in an upload field is rejected", async (ctx) => {
    const field = node("in", "request-input", { fields: [{ name: "photo", type: "image_upload" }] });
    const graph = { nodes: [field, out], edges: [edge("in.photo", "out.photo")] };
    refuses(await runGraph(await user(ctx), graph, { photo: "http://[::1]/a.png" }), 400, "INVALID_INPUTS");
  }),
  engine("a result's files are ours: other addresses are fetched into our storage", filesAreOurs, NEEDS),
  engine("what can't be a file of a result fails the node that names it", noFiles, NEEDS),
  engine("a data URL in an upload field becomes a stored file", async (ctx) => {
    const field = node("in", "request-input", { fields: [{ name: "photo", type: "image_upload" }] });
    const slug = await save(await user(ctx), { nodes: [field, out], edges: [edge("in.photo", "out.images")] });
    const photo = `data:image/png;base64,${PNG}`;
    const answer = answers(await (await user(ctx)).post(`/api/workflows/${slug}/run`, { inputs: { photo } }), 200);
    assert.ok(pick(answer, "result.images.0.url").startsWith(`${ctx.baseUrl}/media/`));
  }),
  engine("the value of a placeholder stays within its path segment, or fails the node", async (ctx) => {
    const field = node("in", "request-input", { fields: [{ name: "id", type: "text" }] });
    const graph = {
      nodes: [field, node("web", "http-request", { url: "https://example.com/users/{{id}}/avatar" }), out],
      edges: [edge("in.id", "web.id"), edge("web.status", "out.status")],
    };
    for (const id of ["..", "%2e%2e", "../../admin", "a/%2E%2E/b"]) {
      const answer = await runGraph(await user(ctx), graph, { id });
      assert.ok([422, 500].includes(answer.status), `${id}: ${answer.status}`);
      assert.match(answer.text, /\{\{id\}\}/);
    }
  }),
  engine("extract with a star is rejected, because it is a JSON pointer", async (ctx) => {
    const answer = refuses(
      await runGraph(await user(ctx), request({ url: "https://example.com", extract: "/items/*" })),
      422,
      "WORKFLOW_INVALID",
    );
    assert.match(answer.text, /extract/);
  }),
  egress(
    "outgoing requests identify their sender",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox((response) => void response.writeHead(200).end("ok"));
      await resultOf(ctx, request({ url: inbox.url }));
      assert.match(String(inbox.deliveries[0]!.headers["user-agent"]), /^Nodeloom\/\d+\.\d+\.\d+/);
    },
    NEEDS,
  ),
  egress(
    "redirects are not followed",
    async (ctx) => {
      const target = ctx.receiver!.inbox();
      const inbox = ctx.receiver!.inbox((response) => void response.writeHead(302, { location: target.url }).end());
      fits(await resultOf(ctx, request({ url: inbox.url })), { status: 302 });
      assert.equal(target.deliveries.length, 0);
    },
    NEEDS,
  ),
  egress(
    "a response that is too large is truncated",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox((response) => void response.writeHead(200).end("x".repeat(5 * 1024 * 1024)));
      refuses(await runGraph(await user(ctx), request({ url: inbox.url })), 500, "EXECUTION_FAILED");
    },
    NEEDS,
  ),
  egress("webhooks to internal addresses are also rejected", async (ctx) => {
    const own = await ctx.actor({ tier: "pro" });
    for (const url of ["http://127.0.0.1:1/hook", "http://localhost/hook", "http://169.254.169.254/", "http://[::ffff:10.0.0.1]/"]) {
      const creation = { name: "inside", preset: "full-deploy", webhook: { url } };
      refuses(await own.session.post("/api/keys", creation), 400, "INVALID_REQUEST", { issues: [{ path: "webhook.url" }] });
      refuses(await own.session.put(`/api/keys/${own.keyId}/webhook`, { url }), 400, "INVALID_REQUEST", { issues: [{ path: "url" }] });
    }
  }),
  egress("a provider's media is stored before a result names it", async (ctx) => {
    const slug = await save(await user(ctx), picture(QUICK));
    const answer = answers(await (await user(ctx)).post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    assert.ok(pick(answer, "result.images.0.url").startsWith(ctx.baseUrl));
  }),
];

export const engineCases: Case[] = [...values, ...nodes, ...outbound];
