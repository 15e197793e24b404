import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, fits, is, noWorkflow, pick, refuses, rowsOf } from "../check";
import { eventually, type Actor, type Caller, type Context } from "../context";
import { edge, node, picture, save, creditsSpent } from "../graphs";
import type { Answer } from "../../../../test-support/client";

/** Tests of workflows, which a version must pass before it is promoted. */

const tests = inSection("D31");
const user = (ctx: Context, name = "tests"): Promise<Actor> => ctx.shared("enterprise", name);
/** Judges are charged, so their cases have accounts of their own. */
const judged = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "judges");
const QUICK = { sandbox: { latencyMs: 10 } };

const says = (text: string) => ({
  nodes: [node("t", "text-box", { text }), node("out", "response-output")],
  edges: [edge("t.text", "out.text")],
});

const greets = { name: "greets", inputs: {}, expect: [{ equals: "hello" }, { path: "text", matches: "^h" }] };

/** An image and a text. Each change affects only one of them. */
const poster = (prompt: string, text: string, model = "sandbox-image-fast") => {
  const { nodes, edges } = picture({ ...QUICK, prompt }, model);
  return { nodes: [...nodes, node("t", "text-box", { text })], edges: [...edges, edge("t.text", "out.text")] };
};

const start = (caller: Caller, slug: string, body: object = {}): Promise<Answer> => caller.post(`/api/workflows/${slug}/tests/run`, body);
const over = (caller: Caller, slug: string, id: string): Promise<Answer> =>
  eventually(
    () => caller.get(`/api/workflows/${slug}/tests/runs/${id}`),
    ({ body }) => (body as { status?: string }).status !== "running",
  );
const run = async (caller: Caller, slug: string, body: object = {}): Promise<Answer> =>
  over(caller, slug, pick(answers(await start(caller, slug, body), 202, { batchId: is.uuid, total: is.positive }), "batchId"));
const publish = async (actor: Caller, slug: string): Promise<number> =>
  pick<number>(answers(await actor.post(`/api/workflows/${slug}/versions`), 201), "version");
const point = (actor: Caller, slug: string, body: object) => actor.put(`/api/workflows/${slug}/aliases/production`, body);

export const workflowTestCases: Case[] = [
  tests("tests run on the draft, and each shows the expected and the actual result", async (ctx) => {
    const actor = await user(ctx);
    const wrong = {
      name: "wrong",
      inputs: {},
      expect: [{ contains: "good" }, { schema: { maxLength: 2 } }, { jmespath: "length(@) > `9`" }],
    };
    const slug = await save(actor, { ...says("hello"), tests: [greets, wrong] });
    answers(await actor.get(`/api/workflows/${slug}`), 200, { tests: [greets, wrong] });
    const result = answers(await run(actor, slug), 200, { status: "failed", version: null, total: 2, passed: 1, failed: 1 });
    const failures = [
      { kind: "contains", index: 0, expected: "good", got: "hello" },
      { kind: "schema", index: 1, got: { value: "hello", problems: is.list } },
      { kind: "jmespath", index: 2, got: false },
    ];
    fits(pick(result, "results"), [
      { name: "greets", status: "passed", failures: [], executionId: is.uuid, result: { text: "hello" } },
      { name: "wrong", status: "failed", failures },
    ]);
    const page = answers(await actor.get(`/api/workflows/${slug}/tests/runs`), 200);
    fits(rowsOf(page), [{ batchId: pick(result, "batchId"), status: "failed", passed: 1, failed: 1, results: is.absent }]);
    const junit = await actor.get(`/api/workflows/${slug}/tests/runs/${pick<string>(result, "batchId")}?format=junit`);
    assert.equal(junit.headers.get("content-type"), "application/xml; charset=utf-8");
    assert.match(junit.text, /<testsuite name="[^"]+" tests="2" failures="1" skipped="0"/);
    assert.match(junit.text, /<failure type="contains"[^>]*>expected: good\ngot: hello<\/failure>/);
  }),
  tests("unchanged nodes cost nothing, also compared with another version, and differences are named", async (ctx) => {
    const actor = await user(ctx);
    const look = { name: "look", inputs: {}, expect: [{ path: "images", file: { kind: "image", width: { min: 64 }, bytes: { min: 1 } } }] };
    const slug = await save(actor, { ...poster("a reed", "one"), tests: [look] });
    const first = answers(await run(actor, slug), 200, { status: "passed", creditsCost: is.positive });
    const price = pick<number>(first, "results.0.price");
    await publish(actor, slug);
    answers(await actor.put(`/api/workflows/${slug}`, poster("a reed", "two")), 200);
    const free = await creditsSpent(actor, async () => {
      const again = answers(await run(actor, slug, { against: { alias: "production" } }), 200, { status: "passed", creditsCost: 0 });
      fits(pick(again, "against"), { version: 1, alias: "production", creditsCost: 0 });
      fits(pick(again, "results"), [
        {
          creditsCost: 0,
          price,
          differences: [{ path: "text", now: "two", before: "one" }],
          against: { status: "passed", creditsCost: 0 },
        },
      ]);
    });
    assert.equal(free, 0);
    answers(await actor.put(`/api/workflows/${slug}`, poster("a heron", "two")), 200);
    const changed = answers(await run(actor, slug, { against: { version: 1 } }), 200, { creditsCost: is.positive });
    fits(pick(changed, "against.creditsCost"), 0);
    fits(pick(changed, "results.0.differences"), [{ path: "images[0]", now: is.text, before: is.text }, { path: "text" }]);
  }),
  tests("files are compared with a golden file, their loudness is measured, and each check shows the value", async (ctx) => {
    const actor = await ctx.shared("enterprise", "golden files");
    const graph = (prompt: string) => {
      const { nodes, edges } = picture({ ...QUICK, prompt });
      return {
        nodes: [...nodes, node("a", "generate-audio", { model: "sandbox-music", inputs: { prompt: "rain", seconds: 3, ...QUICK } })],
        edges: [...edges, edge("a.audio", "out.sounds")],
      };
    };
    const slug = await save(actor, graph("a quay"));
    const execution = answers(await actor.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    const file = pick<string>(execution, "result.images.0.id");
    const expect = [
      { path: "images", file: { similarTo: { file, atLeast: 0.99 } } },
      { path: "images", file: { similarTo: { file, by: "hash", atLeast: 1 } } },
      { path: "sounds", file: { kind: "audio", loudness: { min: -60, max: 0 } } },
      { path: "images", file: { loudness: -16 } },
    ];
    answers(await actor.put(`/api/workflows/${slug}`, { tests: [{ name: "golden", inputs: {}, expect }] }), 200);
    const first = answers(await run(actor, slug), 200, { status: "failed" });
    fits(pick(first, "results.0.checks"), [
      { kind: "file", index: 0, passed: true, got: [{ similarTo: 1 }] },
      { kind: "file", index: 1, passed: true, got: [{ similarTo: 1 }] },
      { kind: "file", index: 2, passed: true, got: { kind: "audio", loudness: is.number } },
      { kind: "file", index: 3, passed: false, got: [{ loudness: is.like(/video or sound/) }] },
    ]);
    fits(pick(first, "results.0.failures"), [{ kind: "file", index: 3 }]);
    answers(await actor.put(`/api/workflows/${slug}`, graph("seven goats")), 200);
    const changed = answers(await run(actor, slug), 200, { status: "failed" });
    fits(pick(changed, "results.0.checks.0"), { kind: "file", index: 0, passed: false, got: [{ similarTo: is.number }] });
  }),
  tests("a judge grades by a rubric, its calls are charged once, and they count as tests", async (ctx) => {
    const actor = await ctx.shared("enterprise", "charged judges");
    const judge = (word: string) => ({ judge: { model: "sandbox-chat", rubric: `Says "${word}".`, atLeast: 4 } });
    const slug = await save(actor, {
      ...says("A lighthouse"),
      tests: [{ name: "mood", inputs: {}, expect: [judge("lighthouse"), judge("sea")] }],
    });
    let charged = 0;
    const spent = await creditsSpent(actor, async () => {
      const first = answers(await run(actor, slug), 200, { status: "failed", creditsCost: is.positive });
      charged = pick<number>(first, "creditsCost");
      fits(pick(first, "results"), [
        {
          ...{ creditsCost: charged, judgesCost: charged, price: 0 },
          checks: [
            { kind: "judge", index: 0, passed: true, got: { score: 5, reason: is.text } },
            { kind: "judge", index: 1, passed: false, got: { score: 1, reason: is.text } },
          ],
          failures: [{ kind: "judge", index: 1, got: { score: 1 } }],
        },
      ]);
      const [id] = pick<string[]>(first, "results.0.judgeRuns");
      answers(await actor.get(`/api/executions/${id}`), 200, { status: "completed", source: "test" });
    });
    fits(spent, is.near(charged));
    const free = await creditsSpent(actor, async () => void answers(await run(actor, slug), 200, { status: "failed", creditsCost: 0 }));
    assert.equal(free, 0);
  }),
  tests("a judge that can't be asked fails its test and says why", async (ctx) => {
    const actor = await judged(ctx);
    const judge = (model: string) => ({ judge: { model, rubric: "It is kind.", atLeast: 1 } });
    const cases = [
      { name: "unknown", inputs: {}, expect: [judge("no-such-model")] },
      { name: "painter", inputs: {}, expect: [judge("sandbox-image-fast")] },
      { name: "poor", inputs: {}, expect: [judge("sandbox-chat")], maxCredits: 0.001 },
    ];
    const slug = await save(actor, { ...says("hello"), tests: cases });
    const result = answers(await run(actor, slug), 200, { status: "failed", passed: 0, failed: 3, creditsCost: 0 });
    fits(pick(result, "results"), [
      { checks: [{ kind: "judge", passed: false, got: is.like(/^not judged: MODEL_NOT_FOUND/) }] },
      { checks: [{ kind: "judge", passed: false, got: is.like(/is not a language model/) }] },
      {
        checks: [
          { kind: "judge", passed: false, got: is.like(/^not judged: /) },
          { kind: "maxCredits", passed: true },
        ],
      },
    ]);
  }),
  tests("a judge sees a video by its frames, and says that it can't hear a sound", async (ctx) => {
    const actor = await judged(ctx);
    const judge = { model: "sandbox-chat", rubric: 'It shows "frames of a video".', atLeast: 5 };
    const slug = await save(actor, {
      nodes: [
        node("clip", "generate-video", { model: "sandbox-video", inputs: { ...QUICK, prompt: "a kite", seconds: 2 } }),
        node("song", "generate-audio", { model: "sandbox-music", inputs: { ...QUICK, prompt: "waves", seconds: 2 } }),
        node("out", "response-output"),
      ],
      edges: [edge("clip.video", "out.videos"), edge("song.audio", "out.audios")],
      tests: [{ name: "film", inputs: {}, expect: ["videos", "audios"].map((path) => ({ path, judge })) }],
    });
    const result = answers(await run(actor, slug), 200, { status: "failed" });
    fits(pick(result, "results.0.checks"), [
      { kind: "judge", passed: true, got: { score: 5 } },
      { kind: "judge", passed: false, got: is.like(/would get 1 sound, and sandbox-chat takes no sounds/) },
    ]);
    const [id] = pick<string[]>(result, "results.0.judgeRuns");
    answers(await actor.get(`/api/executions/${id}`), 200, { inputs: { images: [is.text] } });
  }),
  tests("a judge compares with the version that it names, in both orders", async (ctx) => {
    const actor = await judged(ctx);
    const input = node("in", "request-input", { fields: [{ name: "subject", type: "text", label: "Subject", default: "" }] });
    const graph = (text: string) => ({
      nodes: [input, node("t", "text-box", { text }), node("out", "response-output")],
      edges: [...(text.includes("{{") ? [edge("in.subject", "t.subject")] : []), edge("t.text", "out.text")],
    });
    const judge = { model: "sandbox-chat", against: { version: 1 }, atLeast: 0.5 };
    const slug = await save(actor, {
      ...graph("One {{subject}} by the sea"),
      tests: [{ name: "pair", inputs: { subject: "lighthouse" }, expect: [{ path: "text", judge }] }],
    });
    await publish(actor, slug);
    const score = async (text: string): Promise<unknown> => {
      answers(await actor.put(`/api/workflows/${slug}`, graph(text)), 200);
      const result = answers(await run(actor, slug), 200, { against: { version: 1 } });
      return pick(result, "results.0.checks.0");
    };
    fits(await score("One {{subject}} by the sea"), { passed: true, got: { score: 0.5 } });
    fits(await score("A {{subject}} far away"), { passed: true, got: { score: 0.5, votes: [{ score: 0.5 }, { score: 0.5 }] } });
    fits(await score("One rock by the sea"), { passed: false, got: { score: 0, votes: [{ score: 0 }, { score: 0 }] } });
  }),
  tests("another model runs against the draft, at the quoted price, and unchanged nodes cost nothing", async (ctx) => {
    const actor = await user(ctx, "swaps");
    const look = { name: "look", inputs: {}, expect: [{ path: "images", file: { kind: "image" } }] };
    const slug = await save(actor, { ...poster("a wren", "one", "sandbox-image"), tests: [look] });
    answers(await run(actor, slug), 200, { status: "passed", settings: is.absent });
    const version = await publish(actor, slug);
    const candidate = { settings: { pic: { model: "sandbox-image-fast" } }, against: { version: "draft" } };
    const quote = answers(await actor.post(`/api/workflows/${slug}/tests/quote`, candidate), 200, { total: 1, exact: true });
    const price = pick<number>(quote, "estimatedCreditCost");
    const spent = await creditsSpent(actor, async () => {
      const result = answers(await run(actor, slug, candidate), 200, { status: "passed", version: null, creditsCost: price });
      fits(pick(result, "settings"), candidate.settings);
      fits(pick(result, "against"), { version: null, creditsCost: 0 });
      fits(pick(result, "results.0.differences"), [{ path: "images[0]" }]);
    });
    fits(spent, is.near(price));
    answers(await actor.post(`/api/workflows/${slug}/tests/quote`, candidate), 200, { estimatedCreditCost: 0, exact: true });
    answers(await run(actor, slug, { ...candidate, version, against: { version } }), 200, { status: "passed", creditsCost: 0 });
    refuses(await point(actor, slug, { version, requireTests: true }), 409, "TESTS_REQUIRED");
    answers(await actor.get(`/api/workflows/${slug}`), 200, { nodes: poster("a wren", "one", "sandbox-image").nodes });
    const unknown = { settings: { nothing: { model: "sandbox-image-fast" } } };
    refuses(await start(actor, slug, unknown), 400, "INVALID_INPUTS");
    refuses(await start(actor, slug, { settings: { pic: { model: "nothing-like-it" } } }), 422, "WORKFLOW_INVALID");
    const key = await actor.withKey([`workflow:${slug}:run`, "execution:read"]);
    refuses(await start(key, slug, candidate), 403, "CAPABILITY_DENIED", { required: "model:sandbox-image-fast:run" });
  }),
  tests("inputs of earlier runs stand in for tests: each of the last distinct ones once, with its run's result reused", async (ctx) => {
    const actor = await user(ctx, "earlier-runs");
    const graph = picture(QUICK, "sandbox-image");
    const input = node("in", "request-input", { fields: [{ name: "what", type: "text", label: "What", required: true }] });
    const slug = await save(actor, { nodes: [input, ...graph.nodes], edges: [edge("in.what", "pic.prompt"), ...graph.edges] });
    refuses(await start(actor, slug, { recentRuns: 3 }), 412, "PRECONDITION_FAILED");
    for (const what of ["a jay", "a jay", "a crane", "a coot", "a smew"]) {
      const ran = await actor.post(`/api/workflows/${slug}/run`, { inputs: { what } });
      answers(ran, 200);
    }
    const spent = await creditsSpent(actor, async () => {
      const result = answers(await run(actor, slug, { recentRuns: 3 }), 200, { status: "passed", total: 3, recentRuns: true });
      fits(pick(result, "creditsCost"), 0);
      fits(pick(result, "results"), [{ name: is.uuid }, { name: is.uuid }, { name: is.uuid }]);
      const names = [0, 1, 2].map((index) => pick<string>(result, `results.${index}.name`));
      const inputs = await Promise.all(names.map(async (id) => pick<string>(await actor.get(`/api/executions/${id}`), "inputs.what")));
      assert.deepEqual(inputs, ["a smew", "a coot", "a crane"]);
    });
    assert.equal(spent, 0);
    const all = answers(await run(actor, slug, { recentRuns: 20, settings: { pic: { model: "sandbox-image-fast" } } }), 200, { total: 4 });
    fits(pick(all, "creditsCost"), is.positive);
    refuses(await start(actor, slug, { recentRuns: 21 }), 400, "INVALID_REQUEST", { issues: [{ path: "recentRuns", message: is.text }] });
  }),
  tests("limits of price and time apply, and a price includes reused calls", async (ctx) => {
    const actor = await user(ctx);
    const cheap = { name: "cheap", inputs: {}, expect: [], maxCredits: 0.001, maxMs: 86_400_000 };
    const slug = await save(actor, { ...picture({ ...QUICK, prompt: "an oar" }), tests: [cheap] });
    for (const cost of [is.positive, 0]) {
      const result = answers(await run(actor, slug), 200, { status: "failed", creditsCost: cost });
      fits(pick(result, "results.0.failures"), [{ kind: "maxCredits", index: is.absent, expected: 0.001, got: is.positive }]);
    }
  }),
  tests("a test that can't run fails, and the others run", async (ctx) => {
    const actor = await user(ctx);
    const graph = {
      nodes: [
        node("in", "request-input", { fields: [{ name: "text", type: "text", label: "Text", required: true }] }),
        node("out", "response-output"),
      ],
      edges: [edge("in.text", "out.text")],
    };
    const passing = { name: "given", inputs: { text: "x" }, expect: [{ equals: "x" }] };
    const slug = await save(actor, { ...graph, tests: [{ name: "missing", inputs: {}, expect: [] }, passing] });
    const result = answers(await run(actor, slug), 200, { status: "failed", passed: 1, failed: 1 });
    fits(pick(result, "results.0.failures"), [{ kind: "status", expected: "completed", got: is.like(/INVALID_INPUTS/) }]);
  }),
  tests("an alias with requireTests moves only to versions that passed its current tests", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, { ...says("hello"), tests: [greets] });
    const good = await publish(actor, slug);
    refuses(await point(actor, slug, { version: good, requireTests: true }), 409, "TESTS_REQUIRED", { version: good });
    answers(await run(actor, slug, { version: good }), 200, { status: "passed", version: good });
    answers(await point(actor, slug, { version: good, requireTests: true }), 200, { version: good, requireTests: true });
    answers(await actor.put(`/api/workflows/${slug}`, says("goodbye")), 200);
    const bad = await publish(actor, slug);
    answers(await run(actor, slug, { version: bad }), 200, { status: "failed" });
    refuses(await point(actor, slug, { version: bad }), 409, "TESTS_REQUIRED");
    answers(await actor.get(`/api/workflows/${slug}/aliases/production`), 200, { version: good, requireTests: true });
    const changed = [{ ...greets, expect: [{ equals: "goodbye" }] }];
    answers(await actor.put(`/api/workflows/${slug}`, { tests: changed }), 200, { tests: changed });
    refuses(await point(actor, slug, { version: good }), 409, "TESTS_REQUIRED");
    answers(await run(actor, slug, { version: bad }), 200, { status: "passed" });
    answers(await point(actor, slug, { version: bad }), 200, { version: bad, requireTests: true });
    answers(await point(actor, slug, { version: good, requireTests: false }), 200, { version: good, requireTests: is.absent });
  }),
  tests("invalid tests are rejected when they are saved, each with its path", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, { ...says("hello"), tests: [greets] });
    const put = (newTests: unknown) => actor.put(`/api/workflows/${slug}`, { tests: newTests });
    const wrong = (more: object) => ({ name: "x", inputs: {}, expect: [], ...more });
    const cases: [unknown, string][] = [
      [[wrong({ expect: [{ matches: "(" }] })], "tests[0].expect[0].matches"],
      [[wrong({ expect: [{ contains: "x" }, { equals: 1, contains: "x" }] })], "tests[0].expect[1]"],
      [[wrong({ expect: [{ jmespath: "a[" }] })], "tests[0].expect[0].jmespath"],
      [[wrong({ expect: [{ schema: { type: "nothing" } }] })], "tests[0].expect[0].schema"],
      [[wrong({ expect: [{ file: { width: { min: 2, max: 1 } } }] })], "tests[0].expect[0].file.width"],
      [[wrong({ expect: [{ file: { widht: 1 } }] })], "tests[0].expect[0].file.widht"],
      [[wrong({ expect: [{ file: { similarTo: { file: "x", atLeast: 2 } } }] })], "tests[0].expect[0].file.similarTo.atLeast"],
      [[wrong({ expect: [{ file: { text: {} } }] })], "tests[0].expect[0].file.text"],
      [[wrong({ expect: [{ judge: { model: "m", atLeast: 3 } }] })], "tests[0].expect[0].judge"],
      [[wrong({ expect: [{ judge: { model: "m", rubric: "x", atLeast: 6 } }] })], "tests[0].expect[0].judge.atLeast"],
      [[greets, greets], "tests[1].name"],
      [[wrong({ inputs: [] })], "tests[0].inputs"],
      [[wrong({ maxMs: 0 })], "tests[0].maxMs"],
      [Array.from({ length: 51 }, (_, index) => wrong({ name: String(index) })), "tests"],
    ];
    for (const [newTests, path] of cases) refuses(await put(newTests), 400, "INVALID_REQUEST", { issues: [{ path, message: is.text }] });
    answers(await actor.get(`/api/workflows/${slug}`), 200, { tests: [greets] });
    answers(await put([]), 200, { tests: is.absent });
    refuses(await start(actor, slug), 412, "PRECONDITION_FAILED");
  }),
  tests("a run of tests under one Idempotency-Key is one run", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, { ...says("hello"), tests: [greets] });
    const headers = { "idempotency-key": randomUUID() };
    const path = `/api/workflows/${slug}/tests/run`;
    const one = answers(await actor.call("POST", path, { body: {}, headers }), 202);
    const two = answers(await actor.call("POST", path, { body: {}, headers }), 202, { batchId: pick(one, "batchId") });
    assert.equal(two.headers.get("idempotency-replayed"), "true");
    const result = await over(actor, slug, pick(one, "batchId"));
    answers(result, 200, { status: "passed" });
    assert.equal(rowsOf(await actor.get(`/api/workflows/${slug}/tests/runs`)).length, 1);
  }),
  tests("the draft is tested under both of its names, and not beside a version", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, { ...says("hello"), tests: [greets] });
    for (const body of [{ draft: true }, { version: "draft" }]) {
      const started = answers(await start(actor, slug, body), 202);
      answers(await over(actor, slug, pick(started, "batchId")), 200, { version: null, status: "passed" });
    }
    refuses(await start(actor, slug, { draft: true, version: 1 }), 400, "INVALID_REQUEST");
  }),
  tests("other users can neither see nor run the tests of a template", async (ctx) => {
    const [owner, reader] = [await user(ctx), await ctx.shared("pro", "readers")];
    const slug = await save(owner, { ...says("hello"), tests: [greets], isTemplate: true });
    answers(await reader.get(`/api/workflows/${slug}`), 200, { tests: is.absent });
    noWorkflow(await start(reader, slug));
    noWorkflow(await reader.get(`/api/workflows/${slug}/tests/runs`));
    const id = pick<string>(answers(await run(owner, slug), 200), "batchId");
    refuses(await reader.get(`/api/workflows/${slug}/tests/runs/${id}`), 404, "NOT_FOUND");
    const key = await owner.withKey(["workflow:write", "execution:read"]);
    refuses(await start(key, slug), 403, "CAPABILITY_DENIED", { required: `workflow:${slug}:run` });
  }),
];
