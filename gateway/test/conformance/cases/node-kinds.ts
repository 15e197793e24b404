import assert from "node:assert/strict";
import { inSection, type Case, type CaseOptions } from "../case";
import { answers, fits, is, pick, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { edge, node, picture, request, runGraph, save, type Graph } from "../graphs";

const kinds = inSection("D15");
const quotes = inSection("D7");
const NEEDS: CaseOptions = { needs: ["receiver"] };

const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "node-kinds");
const out = node("out", "response-output");
const resultOf = async (ctx: Context, graph: object): Promise<unknown> =>
  pick(answers(await runGraph(await user(ctx), graph), 200), "result");
const quoteOf = async (actor: Actor, graph: object) => actor.post(`/api/workflows/${await save(actor, graph)}/quote`, { inputs: {} });

/** A json node and its result. */
const picked = (expression: string, value: unknown): Graph => ({
  name: "Picked",
  nodes: [node("pick", "json", { expression, value }), out],
  edges: [edge("pick.value", "out.value")],
});
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SCENES = {
  scenes: [
    { title: "dawn", seconds: 3 },
    { title: "noon", seconds: 5 },
  ],
};

const json: Case[] = [
  kinds("a json node selects by its expression, and returns the whole value without one", async (ctx) => {
    assert.deepEqual(await resultOf(ctx, picked("scenes[?seconds > `4`].title | [0]", SCENES)), { value: "noon" });
    assert.deepEqual(await resultOf(ctx, picked("", SCENES)), { value: SCENES });
  }),
  kinds("a json node parses text, and fails on text that isn't JSON", async (ctx) => {
    assert.deepEqual(await resultOf(ctx, picked("scenes[0].title", JSON.stringify(SCENES))), { value: "dawn" });
    refuses(await runGraph(await user(ctx), picked("@", "no JSON")), 422, "WORKFLOW_INVALID", {
      issues: [{ nodeId: "pick", message: is.text }],
    });
  }),
  kinds("an array fans out after a json node", async (ctx) => {
    const graph = picked("scenes[].title", SCENES);
    graph.nodes.push(node("box", "text-box", { text: "at {{when}}" }));
    graph.edges = [edge("pick.value", "box.when"), edge("box.text", "out.all")];
    assert.deepEqual(await resultOf(ctx, graph), { all: ["at dawn", "at noon"] });
  }),
  kinds("an invalid expression rejects the graph, and the error names the node", async (ctx) => {
    const answer = await runGraph(await user(ctx), picked("scenes[", SCENES));
    refuses(answer, 422, "WORKFLOW_INVALID", { issues: [{ nodeId: "pick", message: is.text }] });
  }),
];

const http: Case[] = [
  kinds(
    "failOnStatus fails an http-request node with a response outside 2xx, with its status",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox((response) => void response.writeHead(418).end("short and stout"));
      assert.deepEqual(await resultOf(ctx, request({ url: inbox.url })), { body: "short and stout", status: 418 });
      const answer = refuses(await runGraph(await user(ctx), request({ url: inbox.url, failOnStatus: true })), 500, "EXECUTION_FAILED", {
        nodeId: "get",
      });
      assert.match(pick(answer, "error"), /418/);
    },
    NEEDS,
  ),
  kinds(
    "a picture in a response leaves an http-request node by its port file, and is stored",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox((response) => void response.end(Buffer.from(PNG, "base64")));
      const graph = request({ url: inbox.url });
      graph.edges.push(edge("get.file", "out.images"));
      const result = (await resultOf(ctx, graph)) as { body: unknown; images: { url: string }[] };
      assert.deepEqual([result.body, result.images.length], [null, 1]);
      assert.ok(result.images[0]!.url.startsWith(`${ctx.baseUrl}/media/`), result.images[0]!.url);
    },
    NEEDS,
  ),
  kinds(
    "a text body that is JSON after filling is sent as JSON, with inserted values escaped",
    async (ctx) => {
      const inbox = ctx.receiver!.inbox();
      const graph = request({ method: "POST", url: inbox.url, body: '{"q": "{{q}}"}' });
      graph.nodes.push(node("box", "text-box", { text: 'say "hi"' }));
      graph.edges.push(edge("box.text", "get.q"));
      answers(await runGraph(await user(ctx), graph), 200);
      const [delivery] = inbox.deliveries;
      assert.match(String(delivery!.headers["content-type"]), /^application\/json/);
      assert.deepEqual(JSON.parse(delivery!.body), { q: 'say "hi"' });
    },
    NEEDS,
  ),
];

const SCHEMA = {
  type: "array",
  minItems: 2,
  maxItems: 3,
  items: { type: "object", required: ["title"], properties: { title: { type: "string", maxLength: 40 } } },
};
const asker = (schema: unknown, sandbox: Record<string, unknown> = {}): Graph => ({
  name: "Asker",
  nodes: [node("ask", "llm-assistant", { model: "sandbox-chat", prompt: "scenes of a heron", schema, inputs: { sandbox } }), out],
  edges: [edge("ask.text", "out.text"), edge("ask.json", "out.scenes")],
});

const language: Case[] = [
  kinds("a text model with a schema returns matching JSON with its text", async (ctx) => {
    const { text, scenes } = (await resultOf(ctx, asker(SCHEMA))) as { text: string; scenes: { title: string }[] };
    assert.deepEqual(JSON.parse(text), scenes);
    assert.ok(scenes.length >= 2 && scenes.length <= 3);
    for (const { title } of scenes) assert.ok(title.length <= 40);
    // Equal prompts get equal responses.
    fits(await resultOf(ctx, asker(SCHEMA)), { scenes });
  }),
  kinds("an answer that doesn't match is requested once more, and then fails the node", async (ctx) => {
    answers(await runGraph(await user(ctx), asker(SCHEMA, { fail: "invalid" })), 200, { result: { scenes: is.list } });
    refuses(await runGraph(await user(ctx), asker(SCHEMA, { fail: "unfit" })), 500, "EXECUTION_FAILED", { nodeId: "ask" });
  }),
  kinds("an unusable schema rejects the graph, and the error names the node", async (ctx) => {
    for (const schema of [
      7,
      { type: "text" },
      { $ref: "https://example.com/s" },
      { pattern: "(?=x)" },
      { description: "x".repeat(33_000) },
    ])
      refuses(await runGraph(await user(ctx), asker(schema)), 422, "WORKFLOW_INVALID", { issues: [{ nodeId: "ask", message: is.text }] });
  }),
  quotes("a quote includes the second answer that a schema can need", async (ctx) => {
    const quote = answers(await quoteOf(await user(ctx), asker(SCHEMA)), 200, { exact: false });
    assert.ok(pick<number>(quote, "maxCreditCost") > 2 * pick<number>(quote, "estimatedCreditCost"));
  }),
];

/** A text model that reads another server's response. */
const reader = (url: string, more: object = {}): Graph => ({
  name: "Reader",
  nodes: [
    node("web", "http-request", { url }),
    node("sum", "llm-assistant", { model: "sandbox-chat", prompt: "Sum up: {{tale}}", ...more }),
    out,
  ],
  edges: [edge("web.body", "sum.tale"), edge("sum.text", "out.text")],
});

const quoteCases: Case[] = [
  quotes(
    "a text that only the run determines is quoted as expected and as a maximum, and maxInputChars limits it",
    async (ctx) => {
      const [actor, url] = [await user(ctx), ctx.receiver!.inbox().url];
      const numbers = async (more: object) => {
        const quote = answers(await quoteOf(actor, reader(url, more)), 200, { exact: false });
        return { about: pick<number>(quote, "estimatedCreditCost"), most: pick<number>(quote, "maxCreditCost") };
      };
      const [open, bounded] = [await numbers({}), await numbers({ maxInputChars: 2_000 })];
      assert.ok(open.most > 20 * open.about, JSON.stringify(open));
      assert.ok(bounded.most > bounded.about && bounded.most < open.most / 20, JSON.stringify(bounded));
      assert.equal(bounded.about, open.about);
      const limited = { inputs: {}, maxCredits: open.about };
      const slug = await save(actor, reader(url));
      answers(await actor.post(`/api/workflows/${slug}/run`, limited), 200, { result: { text: is.text } });
      const { quoteError } = await eventually(
        async () => answers(await actor.get(`/api/workflows/${slug}`), 200).body as { quoteError?: { p50: number } },
        (workflow) => workflow.quoteError !== undefined,
      );
      assert.ok(quoteError!.p50 < 0, "the bill is below the estimate, which holds the longest answer");
      refuses(await runGraph(actor, reader(url, { maxInputChars: 5 })), 500, "EXECUTION_FAILED", { nodeId: "sum" });
    },
    NEEDS,
  ),
  quotes("a quote with known list lengths is exact", async (ctx) => {
    const quote = answers(await quoteOf(await user(ctx), picture()), 200, { exact: true });
    assert.equal(pick(quote, "maxCreditCost"), pick(quote, "estimatedCreditCost"));
  }),
  quotes(
    "a quote counts a list of unknown length as one or as maxItems, and at most as maxItems or fifty",
    async (ctx) => {
      const of = async (more: object) => {
        const graph = {
          nodes: [
            node("web", "http-request", { url: ctx.receiver!.inbox().url }),
            node("pic", "generate-image", { model: "sandbox-image-fast", ...more }),
            out,
          ],
          edges: [edge("web.body", "pic.prompt"), edge("pic.image", "out.images")],
        };
        const quote = answers(await quoteOf(await user(ctx), graph), 200);
        return {
          estimated: pick<number>(quote, "estimatedCreditCost"),
          most: pick<number>(quote, "maxCreditCost"),
          exact: pick<boolean>(quote, "exact"),
        };
      };
      const { estimated: one, most, exact } = await of({});
      assert.deepEqual([Math.round(most / one), exact], [50, false]);
      const four = await of({ maxItems: 4 });
      assert.deepEqual([Math.round(four.estimated / one), Math.round(four.most / one), four.exact], [4, 4, true]);
    },
    NEEDS,
  ),
  quotes("maxItems is a whole number from 1 to 1,000; any other value is WORKFLOW_INVALID, and names the node", async (ctx) => {
    const actor = await user(ctx);
    for (const maxItems of [0, 1_001, 1.5, "5"]) {
      const pic = node("pic", "generate-image", { model: "sandbox-image-fast", prompt: "x", maxItems });
      const message = "maxItems: must be a whole number from 1 to 1000";
      refuses(await quoteOf(actor, { nodes: [pic], edges: [] }), 422, "WORKFLOW_INVALID", { issues: [{ nodeId: "pic", message }] });
    }
  }),
  kinds("a misspelt setting is a warning with the nearest name, in quotes and on the node", async (ctx) => {
    const graph = { nodes: [node("box", "text-box", { text: "x", txet: "y" }), out], edges: [edge("box.text", "out.text")] };
    const actor = await user(ctx);
    const quote = answers(await quoteOf(actor, graph), 200);
    fits(pick<unknown[]>(quote, "warnings"), [{ nodeId: "box", message: "there is no setting txet: did you mean text?" }]);
    const answer = answers(await runGraph(actor, graph), 200);
    const polled = await actor.get(`/api/executions/${answer.headers.get("x-execution-id")}`);
    fits(
      pick<{ id: string }[]>(polled, "nodes").find(({ id }) => id === "box"),
      { warnings: ["there is no setting txet: did you mean text?"] },
    );
  }),
  kinds("every node kind is listed with its settings and ports", async (ctx) => {
    const listed = answers(await (await user(ctx)).get("/api/node-kinds"), 200).body as unknown as { type: string; outputs: unknown[] }[];
    const types = listed.map(({ type }) => type).sort();
    assert.deepEqual(types, [
      ...["approval", "generate-3d", "generate-audio", "generate-image", "generate-video", "http-request", "json", "list"],
      ...["llm-assistant", "loop", "media", "media-upload", "note", "request-input", "response-output", "switch", "text-box", "workflow"],
    ]);
    fits(
      listed.find(({ type }) => type === "llm-assistant"),
      {
        settings: { schema: { type: "object" } },
        outputs: [
          { name: "text", type: "text" },
          { name: "json", type: "any", setting: "schema" },
        ],
      },
    );
    fits(
      listed.find(({ type }) => type === "json"),
      { calls: null, inputs: [{ name: "value", type: "any", list: true }], outputs: [{ name: "value", type: "any" }] },
    );
  }),
];

export const nodeKindCases: readonly Case[] = [...json, ...http, ...language, ...quoteCases];
