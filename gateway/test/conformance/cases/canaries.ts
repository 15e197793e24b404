import assert from "node:assert/strict";
import { inSection, type Case, type CaseOptions } from "../case";
import { answers, exactly, fits, is, pick, refuses } from "../check";
import { eventually, type Actor, type Caller, type Context } from "../context";
import { edge, node, save } from "../graphs";

/** Canaries of aliases. */

const control = inSection("D31");
const NEEDS: CaseOptions = { needs: ["receiver"] };
const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "canaries");

/** Returns a picture. The prompt is the only field. */
const picture = (inputs: object = {}, { field = "subject" } = {}) => ({
  name: "Canary",
  nodes: [
    node("in", "request-input", { fields: [{ name: field, type: "text", label: field, default: "a loom" }] }),
    node("pic", "generate-image", { model: "sandbox-image-fast", inputs: { sandbox: { latencyMs: 10 }, ...inputs } }),
    node("out", "response-output"),
  ],
  edges: [edge(`in.${field}`, "pic.prompt"), edge("pic.image", "out.image")],
});
/** Returns a video, whose price depends on its length. No trial run pays for it. */
const clip = (seconds: number) => ({
  name: "Canary",
  nodes: [
    node("in", "request-input", { fields: [{ name: "subject", type: "text", label: "subject", default: "a loom" }] }),
    node("clip", "generate-video", { model: "sandbox-video", inputs: { seconds } }),
    node("out", "response-output"),
  ],
  edges: [edge("in.subject", "clip.prompt"), edge("clip.video", "out.video")],
});
const FAILING = { sandbox: { latencyMs: 10, fail: "job" } };

/** A workflow with `production` at version 1, and version 2. */
const published = async (actor: Caller, first: object, second: object): Promise<string> => {
  const slug = await save(actor, first);
  answers(await actor.post(`/api/workflows/${slug}/versions`), 201);
  answers(await actor.put(`/api/workflows/${slug}`, second), 200);
  answers(await actor.post(`/api/workflows/${slug}/versions`), 201);
  answers(await point(actor, slug, { version: 1 }), 200);
  return slug;
};
const point = (actor: Caller, slug: string, body: object) => actor.put(`/api/workflows/${slug}/aliases/production`, body);
const settings = { version: 2, percent: 50, minRuns: 100 };
const start = (actor: Caller, slug: string, key?: string) =>
  actor.call("POST", `/api/workflows/${slug}/run`, {
    body: { inputs: {} },
    ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
  });

interface Ran {
  id: string;
  canary: boolean | null;
  version: number;
}
const executionOf = async (actor: Caller, id: string): Promise<Ran> => {
  const { body } = answers(await actor.get(`/api/executions/${id}`), 200, { workflowSlug: is.text });
  return { id, canary: body.canary as boolean | null, version: body.version as number };
};
const run = async (actor: Caller, slug: string): Promise<Ran> =>
  executionOf(actor, (await start(actor, slug)).headers.get("x-execution-id") ?? "");
/** Runs until the canary has ended, and returns the runs that it got. */
const untilEnded = async (actor: Caller, slug: string, mostRuns: number): Promise<Ran[]> => {
  const runs: Ran[] = [];
  for (let count = 0; count < mostRuns; count += 5) {
    runs.push(...(await Promise.all(Array.from({ length: 5 }, () => run(actor, slug)))));
    const { body } = answers(await actor.get(`/api/workflows/${slug}/aliases/production`), 200);
    if (body.canary === undefined) return runs.filter(({ canary }) => canary);
  }
  throw new Error(`the canary goes on after ${mostRuns} runs`);
};

export const canaryCases: Case[] = [
  control("a canary gets a share of the alias's runs; executions record it, and replays and reruns keep their version", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor, picture(), picture({ seed: 1 }));
    assert.equal((await run(actor, slug)).canary, null);
    const none = { runs: 0, failed: 0, creditsCost: null, durationMs: null };
    answers(await point(actor, slug, { version: 1, canary: settings }), 200, {
      version: 1,
      canary: exactly({
        ...{ ...settings, maxCredits: null, creditsCost: 0, startedAt: is.time, startedBy: actor.userId },
        ...{ base: none, canary: none, confidence: { errors: 0, cost: 0, time: 0 } },
      }),
    });
    const runs: Ran[] = [];
    while (!runs.some(({ canary }) => canary) || runs.every(({ canary }) => canary)) runs.push(await run(actor, slug));
    for (const { canary, version } of runs) assert.equal(version, canary ? 2 : 1);
    const canaryRun = runs.find(({ canary }) => canary)!;
    const rerun = answers(await actor.post(`/api/executions/${canaryRun.id}/rerun`, {}), 200);
    assert.deepEqual(
      { ...(await executionOf(actor, rerun.headers.get("x-execution-id") ?? "")), id: "" },
      { id: "", canary: null, version: 2 },
    );
    const key = `canary-${Date.now()}`;
    const ids = [await start(actor, slug, key), await start(actor, slug, key)].map(({ headers }) => headers.get("x-execution-id"));
    assert.equal(ids[0], ids[1]);
    answers(await point(actor, slug, { version: 1, canary: null }), 200);
    assert.equal((await run(actor, slug)).canary, null);
  }),
  control("a canary with other input fields or results is rejected, and settings have bounds", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor, picture(), picture({}, { field: "topic" }));
    refuses(await point(actor, slug, { version: 1, canary: settings }), 409, "CANARY_SHAPE", { fields: ["subject", "topic"], results: [] });
    for (const [path, value] of [
      ["percent", 0],
      ["percent", 51],
      ["minRuns", 19],
      ["version", 1],
    ] as const)
      refuses(await point(actor, slug, { version: 1, canary: { ...settings, [path]: value } }), 400, "INVALID_REQUEST", {
        issues: [{ path: `canary.${path}` }],
      });
    refuses(await point(actor, slug, { version: 1, canary: { ...settings, version: 9 } }), 404, "VERSION_NOT_FOUND");
  }),
  control("quotes give the dearer of both versions", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor, clip(1), clip(2));
    const quote = async (query = "") =>
      answers(await actor.post(`/api/workflows/${slug}/quote${query}`, { inputs: {} }), 200).body as { estimatedCreditCost: number };
    const [first, second] = [await quote("?version=1"), await quote("?version=2")];
    assert.ok(second.estimatedCreditCost > first.estimatedCreditCost);
    answers(await point(actor, slug, { version: 1, canary: settings }), 200);
    fits(await quote(), { estimatedCreditCost: second.estimatedCreditCost, maxCreditCost: second.estimatedCreditCost, exact: false });
  }),
  control(
    "a failing canary is rolled back within 60 of its runs, with its confidence, an audit row and a message to endpoints",
    async (ctx) => {
      const actor = await ctx.actor({ tier: "enterprise" });
      const inbox = ctx.receiver!.inbox();
      answers(await actor.session.post("/api/webhook-endpoints", { url: inbox.url, events: ["canary.ended"] }), 201);
      const slug = await published(actor, picture(), picture(FAILING));
      answers(await point(actor, slug, { version: 1, canary: settings }), 200);
      const runs = await untilEnded(actor, slug, 200);
      assert.ok(runs.length <= 60, `rolled back after ${runs.length} of its runs`);
      const { body } = answers(await actor.get(`/api/workflows/${slug}/aliases/production`), 200, {
        version: 1,
        lastCanary: { version: 2, outcome: "rolled_back", reason: "errors", endedAt: is.time, base: { failed: 0 } },
      });
      assert.ok(Number(pick(body, "lastCanary.confidence")) >= 0.95);
      const [message] = await eventually(
        () => Promise.resolve(inbox.deliveries),
        ({ length }) => length > 0,
      );
      const data = {
        workflowSlug: slug,
        alias: "production",
        version: 1,
        outcome: "rolled_back",
        reason: "errors",
        canary: { version: 2 },
      };
      fits(JSON.parse(message!.body), { type: "canary.ended", data });
      const { rows } = answers(await actor.session.get(`/api/organizations/${actor.userId}/audit`), 200).body as { rows: object[] };
      const ofCanary = rows.filter((row) => (row as { action: string }).action === "workflow.canary-end");
      fits(ofCanary, [{ target: slug, before: { version: 1 }, after: { version: 1 }, outcome: "done", change: { name: "production" } }]);
    },
    NEEDS,
  ),
  control("a harmless canary is promoted after its runs", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor, picture(), picture({ seed: 1 }));
    answers(await point(actor, slug, { version: 1, canary: { ...settings, minRuns: 20 } }), 200);
    await untilEnded(actor, slug, 200);
    answers(await actor.get(`/api/workflows/${slug}/aliases/production`), 200, {
      version: 2,
      lastCanary: { version: 2, outcome: "promoted", reason: null },
    });
  }),
  control("a canary's runs cost no more than maxCredits together", async (ctx) => {
    const actor = await user(ctx);
    const slug = await published(actor, picture(), picture({ seed: 1 }));
    const { body } = answers(await actor.post(`/api/workflows/${slug}/quote`, { inputs: {} }), 200);
    const price = body.estimatedCreditCost as number;
    answers(await point(actor, slug, { version: 1, canary: { ...settings, maxCredits: price * 3.5 } }), 200);
    const runs = await untilEnded(actor, slug, 100);
    assert.equal(runs.length, 3);
    answers(await actor.get(`/api/workflows/${slug}/aliases/production`), 200, {
      version: 1,
      lastCanary: { outcome: "rolled_back", reason: "max_credits" },
    });
  }),
];
