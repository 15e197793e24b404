import assert from "node:assert/strict";
import { connect } from "node:net";
import { connect as tlsConnect } from "node:tls";
import type { Answer } from "../../../../test-support/client";
import { inSection, type Case } from "../case";
import { answers, exactly, is, noWorkflow, pick, refuses } from "../check";
import { unique, type Actor, type Context } from "../context";
import { clip, edge, greeting, node, picture, refusedSubmit, runGraph, runModel, save } from "../graphs";

const errors = inSection("7");
const more = inSection("D6");
const order = inSection("D4");

const MEGABYTE = 1024 * 1024;
const tooLarge = (): string => JSON.stringify({ inputs: { prompt: "x".repeat(11 * MEGABYTE) } });
const QUICK = { sandbox: { latencyMs: 10 } };

/** A user with access to models but without credits. */
const poor = async (ctx: Context): Promise<Actor> => {
  const user = await ctx.actor({ tier: "business" });
  answers(await ctx.admin.post(`/api/admin/users/${user.userId}/credits`, { kind: "adjust", amount: -10_000, note: "conformance" }), 200);
  return user;
};

/** The server's response to a request that isn't valid HTTP/1.1. */
const withoutHost = async (baseUrl: string): Promise<string> => {
  const { hostname, port, protocol } = new URL(baseUrl);
  const socket = protocol === "https:" ? tlsConnect(Number(port || 443), hostname) : connect(Number(port || 80), hostname);
  socket.write("GET /api/whoami HTTP/1.1\r\nConnection: close\r\n\r\n");
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
};

const WRONG: readonly [field: string, wants: string, body: object][] = [
  ["name", "is required", {}],
  ["name", "must be text", { name: 7 }],
  ["name", "must have at most 200 characters", { name: "x".repeat(201) }],
  ["tags", "must have at most 50 items", { name: "x", tags: Array.from({ length: 51 }, (_, index) => `t${index}`) }],
  ["publicPlayground", "must be true or false", { name: "x", publicPlayground: "yes" }],
];

const rows: Case[] = [
  errors("INSUFFICIENT_CREDITS: 402 if credits don't suffice", async (ctx) => {
    refuses(await runModel(await poor(ctx), "sandbox-speech", QUICK), 402, "INSUFFICIENT_CREDITS");
  }),
  errors("grant_exhausted: 402 if the model's trial grant is used up and credits don't suffice", async (ctx) => {
    const user = await poor(ctx);
    for (let remaining = 3; remaining > 0; remaining -= 1) answers(await runModel(user, "sandbox-image", QUICK), 200, { cost: 0 });
    refuses(await runModel(user, "sandbox-image", QUICK), 402, "grant_exhausted");
  }),
  errors("CAPABILITY_DENIED names the required capability", async (ctx) => {
    const answer = await runModel(await ctx.shared("pro", "errors"), "sandbox-image");
    answers(
      answer,
      403,
      exactly({ error: is.text, code: "CAPABILITY_DENIED", doc: is.text, required: "model:sandbox-image:run", requiredTier: "business" }),
    );
  }),
  errors("MODEL_TIER_REQUIRED: 403 if a workflow's model needs a higher tier", async (ctx) => {
    const graph = { nodes: [node("v", "generate-video", { model: "sandbox-video-pro", inputs: { prompt: "x" } })] };
    refuses(await runGraph(await ctx.shared("pro", "errors"), graph), 403, "MODEL_TIER_REQUIRED");
  }),
  errors("MODEL_TIER_REQUIRED: lists of workflows show it before a run", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    const graph = { nodes: [node("v", "generate-video", { model: "sandbox-video-pro", inputs: { prompt: "x" } })] };
    const [above, within] = [await save(user, graph), await save(user, picture())];
    const rows = answers(await user.get("/api/workflows"), 200).body as unknown as { slug: string; unavailable?: unknown }[];
    const of = (slug: string): unknown => rows.find((row) => row.slug === slug)?.unavailable;
    assert.deepEqual(of(above), { reason: "sandbox-video-pro needs the business tier or a higher one", requiredTier: "business" });
    assert.equal(of(within), undefined);
  }),
  errors("an absent workflow is a 404 without a code", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    noWorkflow(await user.post(`/api/workflows/nothing-${unique()}/run`, { inputs: {} }));
  }),
  errors("EXECUTION_FAILED: 500 with the cause, if a provider call in the run fails", async (ctx) => {
    const answer = refuses(
      await runGraph(await ctx.shared("pro", "errors"), clip({ latencyMs: 10, fail: "job" })),
      500,
      "EXECUTION_FAILED",
    );
    assert.match(pick(answer, "error"), /fail/i);
  }),
  errors("EXECUTION_FAILED names the node and the execution", async (ctx) => {
    const answer = await runGraph(await ctx.shared("pro", "errors"), clip({ latencyMs: 10, fail: "job" }));
    refuses(answer, 500, "EXECUTION_FAILED", { nodeId: "clip", executionId: answer.headers.get("x-execution-id") });
  }),
  ...[400, 404, 422, 500, 503].map((status) =>
    errors(
      `PROVIDER_SUBMIT_FAILED has the provider's ${status} and its body`,
      async (ctx) => {
        const user = await ctx.shared("business", "errors");
        const answer = await refusedSubmit(user, "sandbox-music", status);
        refuses(answer, 500, "PROVIDER_SUBMIT_FAILED", { providerStatus: status, providerBody: is.text });
        assert.ok(Buffer.byteLength(pick(answer, "providerBody")) <= 2_048);
      },
      { alone: true },
    ),
  ),
  errors("PROVIDER_RESPONSE_INCOMPLETE: 500, and no credits are deducted", async (ctx) => {
    const user = await ctx.actor({ tier: "business" });
    refuses(await runModel(user, "sandbox-music", { sandbox: { latencyMs: 10, fail: "incomplete" } }), 500, "PROVIDER_RESPONSE_INCOMPLETE");
    assert.equal((await user.credits()).plan, 10_000);
  }),
  errors("errors reveal no internals", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    const all = [
      await user.get("/api/nothing"),
      await user.call("POST", "/api/workflows", { raw: '{"name":' }),
      await user.get("/api/executions?cursor=%F0%9F%92%A9"),
      await user.get("/api/executions?cursor=abc"),
      await user.get("/api/workflows/%00"),
      await user.get("/api/workflows/%E0%A4%A"),
    ];
    for (const answer of all) {
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}: ${answer.text}`);
      answers(answer, answer.status, { error: is.text });
      assert.doesNotMatch(answer.text, /node_modules|\.js:|\.ts:|MongoServerError|ECONNREFUSED|    at /);
    }
    for (const query of ["limit[$gt]=1", "modelId[$ne]=x", "status=completed&status=failed", "limit=1&limit=2"]) {
      assert.ok((await user.get(`/api/usage?${query}`)).status < 500);
    }
  }),
];

const statuses: Case[] = [
  more("malformed JSON is INVALID_REQUEST", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    for (const raw of ['{"name":', "name=x", '{"name":"x"}}', "\u0000"]) {
      refuses(await user.call("POST", "/api/workflows", { raw }), 400, "INVALID_REQUEST", { issues: is.list });
    }
  }),
  more("JSON that is too deep or has too many values is INVALID_REQUEST", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    const deep = (levels: number) => `{"name":"x","nodes":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    answers(await user.call("POST", "/api/workflows", { raw: deep(64) }), 201);
    refuses(await user.call("POST", "/api/workflows", { raw: deep(65) }), 400, "INVALID_REQUEST", { issues: is.list });
    const many = `{"name":"x","tags":[${"0,".repeat(200_000)}0]}`;
    refuses(await user.call("POST", "/api/workflows", { raw: many }), 400, "INVALID_REQUEST", { issues: is.list });
  }),
  more("a body without credentials can have 64 kB", async (ctx) => {
    const raw = JSON.stringify({ email: "ada@example.com", password: "x".repeat(65 * 1024) });
    refuses(await ctx.anonymous.call("POST", "/api/auth/login", { raw }), 413, "PAYLOAD_TOO_LARGE", { limit: 64 * 1024 });
  }),
  more("an unknown query parameter of a list is named", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    for (const path of ["/api/workflows", "/api/executions", "/api/usage", "/api/models", "/api/folders"]) {
      const answer = refuses(await user.get(`${path}?limmit=5`), 400, "INVALID_REQUEST");
      assert.match(answer.text, /limmit/);
    }
  }),
  more("another content type is UNSUPPORTED_MEDIA_TYPE", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const options = { raw: '{"name":"x"}', headers: { "content-type": type } };
      refuses(await user.call("POST", "/api/workflows", options), 415, "UNSUPPORTED_MEDIA_TYPE");
    }
    const charset = { raw: '{"name":"x"}', headers: { "content-type": "application/json; charset=utf-8" } };
    answers(await user.call("POST", "/api/workflows", charset), 201);
  }),
  more("a body that is too large is PAYLOAD_TOO_LARGE", async (ctx) => {
    refuses(await (await ctx.shared("pro", "errors")).call("POST", "/api/workflows", { raw: tooLarge() }), 413, "PAYLOAD_TOO_LARGE");
  }),
  more("an unknown route is ROUTE_NOT_FOUND, with or without a key", async (ctx) => {
    for (const caller of [await ctx.shared("pro", "errors"), ctx.anonymous]) {
      for (const path of ["/api/nothing", "/nothing", "/api/workflows/a/b/c", "/api"])
        refuses(await caller.get(path), 404, "ROUTE_NOT_FOUND");
    }
  }),
  more("a request without a host gets an error in the common format", async (ctx) => {
    const answer = await withoutHost(ctx.baseUrl);
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /^x-request-id: \S+\r$/im);
    assert.match(answer, /"code":"INVALID_REQUEST"/);
  }),
  ...WRONG.map(([field, wants, body]) =>
    more(`INVALID_REQUEST states in plain words what ${field} must be: ${wants}`, async (ctx) => {
      const user = await ctx.shared("pro", "errors");
      const answer = await user.post("/api/workflows", body);
      refuses(answer, 400, "INVALID_REQUEST", { error: `${field}: ${wants}`, issues: [exactly({ path: field, message: wants })] });
    }),
  ),
  ...(
    [
      ["a model's input", { prompt: 7 }, "must be text"],
      ["too small a number", { prompt: "x", seconds: 0 }, "must be at least 1"],
      ["half a second", { prompt: "x", seconds: 1.5 }, "must be a whole number"],
      ["an empty text", { prompt: "" }, "must not be empty"],
      ["an input that there is not", { prompt: "x", colour: "red" }, "is not an input of this model"],
      ["a misspelt input", { prompt: "x", secnds: 1 }, "is not an input of this model: did you mean seconds?"],
    ] as const
  ).map(([what, inputs, message]) =>
    errors(`INVALID_INPUTS states in plain words what is wrong with ${what}`, async (ctx) => {
      const user = await ctx.shared("business", "errors");
      const path = `inputs.${Object.keys(inputs).at(-1)}`;
      const answer = await user.post("/api/models/sandbox-video/run", { inputs });
      refuses(answer, 400, "INVALID_INPUTS", { error: `${path}: ${message}`, issues: [exactly({ path, message })] });
    }),
  ),
  more("INVALID_REQUEST lists the allowed values of a discriminator", async (ctx) => {
    const { userId } = await ctx.shared("pro", "errors");
    const message = 'must be one of "topup", "plan", "adjust", "grant"';
    const answer = await ctx.admin.post(`/api/admin/users/${userId}/credits`, { kind: "gift", amount: 1 });
    refuses(answer, 400, "INVALID_REQUEST", { issues: [exactly({ path: "kind", message })] });
  }),
  more("INVALID_REQUEST explains an invalid name, and an invalid price", async (ctx) => {
    const name = "n".repeat(41);
    const [path, message] = [`metadata.${name}`, "its name must have at most 40 characters"];
    const run = { inputs: { prompt: "x" }, metadata: { [name]: "x" } };
    const business = await ctx.shared("business", "errors");
    refuses(await business.post("/api/models/sandbox-chat/run", run), 400, "INVALID_REQUEST", { issues: [exactly({ path, message })] });
    const price = await ctx.admin.patch("/api/admin/models/sandbox-chat", { price: { perRun: 1 } });
    refuses(price, 400, "INVALID_REQUEST", { issues: [exactly({ path: "price", message: is.like(/perImageUsd/) })] });
  }),
  more("INVALID_REQUEST names a repeated parameter", async (ctx) => {
    const issues = [{ path: "limit", message: "must be given once" }];
    refuses(await (await ctx.shared("pro", "errors")).get("/api/usage?limit=2&limit=3"), 400, "INVALID_REQUEST", { issues });
  }),
  more("an unsupported method of a route is METHOD_NOT_ALLOWED, and Allow lists the supported ones", async (ctx) => {
    const answer = refuses(await (await ctx.shared("pro", "errors")).delete("/api/workflows"), 405, "METHOD_NOT_ALLOWED");
    const allowed = (answer.headers.get("allow") ?? "").split(/,\s*/);
    assert.ok(allowed.includes("GET") && allowed.includes("POST"), `Allow is ${allowed.join()}`);
  }),
  more("every response has a request id", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    const all: Answer[] = [await user.get("/api/whoami"), await user.get("/api/nothing"), await ctx.anonymous.get("/api/whoami")];
    const ids = all.map(({ headers }) => headers.get("x-request-id"));
    assert.ok(ids.every(Boolean));
    assert.equal(new Set(ids).size, ids.length);
  }),
  ...(
    [
      [
        "a cycle",
        [node("a", "text-box", { text: "{{x}}" }), node("b", "text-box", { text: "{{x}}" })],
        [edge("a.text", "b.x"), edge("b.text", "a.x")],
        ["a", "b"],
      ],
      ["an unknown node kind", [node("a", "teleport")], [], ["a"]],
      ["a model that does not exist", [node("a", "generate-image", { model: "nope", inputs: { prompt: "x" } })], [], ["a"]],
      ["a generator without a model", [node("a", "generate-image", { inputs: { prompt: "x" } })], [], ["a"]],
      ["an input that a model needs", [node("a", "generate-image", { model: "sandbox-image-fast", inputs: {} })], [], ["a"]],
      [
        "a port that does not exist",
        [node("a", "text-box", { text: "x" }), node("b", "text-box", { text: "y" })],
        [edge("a.nothing", "b.x")],
        ["b"],
      ],
    ] as const
  ).map(([what, nodes, edges, ids]) =>
    more(`WORKFLOW_INVALID names the node: ${what}`, async (ctx) => {
      const answer = await runGraph(await ctx.shared("enterprise", "errors"), { nodes: [...nodes], edges: [...edges] });
      refuses(answer, 422, "WORKFLOW_INVALID", { issues: is.list });
      const issues = pick<{ nodeId: string; message: string }[]>(answer, "issues");
      assert.deepEqual([...new Set(issues.map(({ nodeId }) => nodeId))].sort(), [...ids]);
    }),
  ),
  more("every problem of a graph is reported at once", async (ctx) => {
    const nodes = [node("a", "teleport"), node("b", "generate-image", { model: "nope" }), node("c", "beam")];
    const answer = await runGraph(await ctx.shared("enterprise", "errors"), { nodes });
    refuses(answer, 422, "WORKFLOW_INVALID");
    assert.deepEqual(
      pick<{ nodeId: string }[]>(answer, "issues")
        .map(({ nodeId }) => nodeId)
        .sort(),
      ["a", "b", "c"],
    );
  }),
  more("a graph that can't run can be saved", async (ctx) => {
    const user = await ctx.shared("pro", "errors");
    answers(await user.get(`/api/workflows/${await save(user, { nodes: [{ nonsense: true }, 7, null], edges: ["x"] })}`), 200, {
      nodes: [{ nonsense: true }, 7, null],
      edges: ["x"],
    });
  }),
];

const ordered: Case[] = [
  order("the size check comes before the key", async (ctx) => {
    refuses(await ctx.anonymous.call("POST", "/api/workflows", { raw: tooLarge() }), 413, "PAYLOAD_TOO_LARGE");
  }),
  order("the content encoding comes before the key", async (ctx) => {
    const packed = { raw: '{"name":"x"}', headers: { "content-encoding": "gzip" } };
    refuses(await ctx.anonymous.call("POST", "/api/workflows", packed), 415, "UNSUPPORTED_MEDIA_TYPE");
    refuses(await (await ctx.shared("pro", "errors")).call("POST", "/api/workflows", packed), 415, "UNSUPPORTED_MEDIA_TYPE");
  }),
  order("the key comes before JSON", async (ctx) => {
    refuses(await ctx.anonymous.call("POST", "/api/workflows", { raw: '{"name":' }), 401, "UNAUTHENTICATED");
  }),
  order("the rate limit comes before JSON", async (ctx) => {
    const user = await ctx.actor({ tier: await ctx.tier("tight", { rateLimitPerMinute: 3 }) });
    for (let remaining = 3; remaining > 0; remaining -= 1) {
      refuses(await user.call("POST", "/api/workflows", { raw: '{"name":' }), 400, "INVALID_REQUEST");
    }
    refuses(await user.call("POST", "/api/workflows", { raw: '{"name":' }), 429, "RATE_LIMIT_EXCEEDED");
  }),
  order("the key comes before the content of the body", async (ctx) => {
    refuses(await ctx.anonymous.post("/api/workflows", { name: 7 }), 401, "UNAUTHENTICATED");
  }),
  order("the capability comes before the body's validity", async (ctx) => {
    const key = await (await ctx.shared("pro", "errors")).withKey(["workflow:read"]);
    refuses(await key.post("/api/workflows", { name: 7 }), 403, "CAPABILITY_DENIED", { required: "workflow:write" });
  }),
  order("the capability comes before the rate limit", async (ctx) => {
    const user = await ctx.actor({ tier: await ctx.tier("tight", { rateLimitPerMinute: 3 }), grants: ["workflow:read"] });
    for (let remaining = 5; remaining > 0; remaining -= 1) refuses(await user.post("/api/workflows", {}), 403, "CAPABILITY_DENIED");
  }),
  order("the rate limit comes before validity", async (ctx) => {
    const user = await ctx.actor({ tier: await ctx.tier("tight", { rateLimitPerMinute: 3 }) });
    for (let remaining = 3; remaining > 0; remaining -= 1) refuses(await user.post("/api/workflows", {}), 400, "INVALID_REQUEST");
    refuses(await user.post("/api/workflows", {}), 429, "RATE_LIMIT_EXCEEDED");
  }),
  order("validity comes before approval", async (ctx) => {
    const user = (await ctx.shared("free", "errors")).session;
    const unapproved = await ctx.actor({ tier: "free", approved: false });
    const slug = await save(unapproved.session, greeting());
    refuses(await unapproved.session.post(`/api/workflows/${slug}/run`, {}), 400, "INVALID_INPUTS");
    refuses(await user.post(`/api/workflows/${slug}/run`, {}), 400, "INVALID_INPUTS");
  }),
  order("approval comes before existence", async (ctx) => {
    const unapproved = await ctx.actor({ tier: "free", approved: false });
    const answer = await unapproved.session.post(`/api/workflows/nothing-${unique()}/run`, { inputs: {} });
    refuses(answer, 403, "ACCOUNT_NOT_APPROVED");
  }),
  order("existence comes before the tier", async (ctx) => {
    const graph = { nodes: [node("v", "generate-video", { model: "sandbox-video-pro", inputs: { prompt: "x" } })] };
    const slug = await save(await ctx.shared("business", "errors"), graph);
    noWorkflow(await (await ctx.shared("pro", "errors")).post(`/api/workflows/${slug}/run`, { inputs: {} }));
  }),
  order("the tier comes before async support", async (ctx) => {
    const pro = await ctx.shared("pro", "errors");
    const graph = picture();
    graph.nodes.push(node("v", "generate-video", { model: "sandbox-video-pro", inputs: { prompt: "x" } }));
    refuses(await pro.post(`/api/workflows/${await save(pro, graph)}/run?async=true`, { inputs: {} }), 403, "MODEL_TIER_REQUIRED");
  }),
  order("async support comes before credits", async (ctx) => {
    refuses(await runModel(await poor(ctx), "sandbox-speech", QUICK, "?async=true"), 400, "ASYNC_NOT_SUPPORTED");
  }),
];

export const errorCases: Case[] = [...rows, ...statuses, ...ordered];
