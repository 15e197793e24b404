import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, exactly, is, pick, refuses } from "../check";
import { finished } from "../context";
import { node, runGraph, runModel } from "../graphs";

const model = inSection("2.8");
const run = inSection("4.9");
const registry = inSection("D11");

const ENTRY = {
  internalName: is.like(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  displayName: is.text,
  modality: is.oneOf("image", "video", "audio", "model3d", "text"),
  inputSchema: { type: "object" },
  minTier: is.oneOf("free", "pro", "business", "enterprise"),
  trialRuns: is.number,
};

type Entry = { internalName: string } & Record<string, unknown>;

/** The contract's table of sandbox models. */
const SANDBOX: readonly [name: string, modality: string, price: Record<string, number>, minTier: string, trials: number][] = [
  ["sandbox-image", "image", { perImageUsd: 0.02 }, "free", 3],
  ["sandbox-image-fast", "image", {}, "free", 0],
  ["sandbox-video", "video", { perSecondUsd: 0.05 }, "pro", 0],
  ["sandbox-video-pro", "video", { perSecondUsd: 0.2 }, "business", 0],
  ["sandbox-music", "audio", {}, "pro", 0],
  ["sandbox-speech", "audio", {}, "free", 0],
  ["sandbox-chat", "text", {}, "free", 0],
  ["sandbox-3d", "model3d", {}, "free", 0],
  ["sandbox-vector", "image", { perImageUsd: 0.01 }, "free", 0],
];
const POLLED = ["sandbox-image", "sandbox-video", "sandbox-video-pro", "sandbox-music", "sandbox-3d"];
const NOT_POLLED = ["sandbox-image-fast", "sandbox-vector", "sandbox-speech", "sandbox-chat"];
/** Cost of one run for a business user without trial runs. */
const COSTS: readonly [name: string, inputs: Record<string, unknown>, credits: number][] = [
  ["sandbox-image-fast", {}, 0.52],
  ["sandbox-video", { seconds: 1 }, 6.5],
  ["sandbox-video-pro", { seconds: 1 }, 26],
  ["sandbox-music", {}, 3.9],
  ["sandbox-speech", {}, 1.3],
  ["sandbox-3d", {}, 3.9],
  ["sandbox-vector", {}, 1.3],
];
const MEMBERS: Readonly<Record<string, string>> = { image: "images", video: "videos", audio: "audios", model3d: "models3d", text: "text" };
const QUICK = { sandbox: { latencyMs: 10 } };
const shortest = (name: string): Record<string, unknown> => (name.includes("video") ? { seconds: 1, ...QUICK } : QUICK);

const FAILURES: readonly [fault: string, code: string][] = [
  ["job", "EXECUTION_FAILED"],
  ["incomplete", "PROVIDER_RESPONSE_INCOMPLETE"],
  ["submit", "EXECUTION_FAILED"],
];

export const modelCases: Case[] = [
  model("models are listed by internal names that are slugs", async (ctx) => {
    const { body } = answers(await (await ctx.shared("pro", "models")).get("/api/models"), 200, is.list);
    for (const entry of body as unknown as Entry[])
      assert.deepEqual(
        Object.keys(ENTRY).filter((name) => entry[name] === undefined),
        [],
      );
  }),
  ...SANDBOX.map(([name, modality]) =>
    model(`the enabled model ${name} can be run directly`, async (ctx) => {
      const answer = await runModel(await ctx.shared("business", "models"), name, shortest(name));
      const expected = modality === "text" ? is.text : [{ url: is.url(`${ctx.baseUrl}/media/`) }];
      answers(answer, 200, { success: true, result: { [MEMBERS[modality]!]: expected } });
    }),
  ),
  run("a name that isn't a slug is rejected", async (ctx) => {
    const user = await ctx.shared("business", "models");
    for (const name of ["Not_A_Slug", "sandbox--image", "-x", "x.y", "%20"]) {
      refuses(await user.post(`/api/models/${name}/run`, { inputs: {} }), 400, "INVALID_SLUG");
    }
  }),
  run("an unknown model is absent", async (ctx) => {
    refuses(await runModel(await ctx.shared("business", "models"), "no-such-model"), 404, "MODEL_NOT_FOUND");
  }),
  run("inputs are required, and must fit the model", async (ctx) => {
    const user = await ctx.shared("business", "models");
    const ask = (body: unknown) => user.post("/api/models/sandbox-image/run", body);
    for (const body of [
      {},
      { inputs: null },
      { inputs: [] },
      { inputs: {} },
      { inputs: { prompt: 7 } },
      { inputs: { prompt: "x", nonsense: 1 } },
    ]) {
      refuses(await ask(body), 400, "INVALID_INPUTS", { issues: is.list });
    }
    for (const count of [0, 5, "2", 1.5]) refuses(await ask({ inputs: { prompt: "x", count } }), 400, "INVALID_INPUTS");
  }),
  ...NOT_POLLED.map((name) =>
    run(`${name} rejects async`, async (ctx) => {
      const answer = await runModel(await ctx.shared("business", "models"), name, QUICK, "?async=true");
      refuses(answer, 400, "ASYNC_NOT_SUPPORTED");
    }),
  ),
  ...POLLED.map((name) =>
    run(`${name} runs asynchronously`, async (ctx) => {
      const user = await ctx.shared("business", "models");
      const answer = answers(await runModel(user, name, shortest(name), "?async=true"), 202);
      answers(await finished(user, pick(answer, "executionId")), 200, { status: "completed" });
    }),
  ),
  registry("a model has its description, input schema, price, tier and trial runs", async (ctx) => {
    const user = await ctx.shared("pro", "models");
    answers(await user.get("/api/models/sandbox-image"), 200, { ...ENTRY, internalName: "sandbox-image", price: is.object });
  }),
  registry("an unknown model is absent, and a name that isn't a slug is rejected", async (ctx) => {
    const user = await ctx.shared("pro", "models");
    refuses(await user.get("/api/models/no-such-model"), 404, "MODEL_NOT_FOUND");
    refuses(await user.get("/api/models/Not_A_Slug"), 400, "INVALID_SLUG");
  }),
  registry("models need a caller, but no capability", async (ctx) => {
    refuses(await ctx.anonymous.get("/api/models"), 401, "UNAUTHENTICATED");
    const key = await (await ctx.shared("pro", "models")).withKey(["webhook:receive"]);
    answers(await key.get("/api/models"), 200, is.list);
    answers(await (await ctx.shared("free")).session.get("/api/models"), 200, is.list);
  }),
  registry("providers' settings and secrets are not shown", async (ctx) => {
    const { text } = await (await ctx.shared("pro", "models")).get("/api/models");
    assert.doesNotMatch(text, /secretEnv|baseUrl|idempotencyHeader/);
  }),
  ...SANDBOX.map(([name, modality, price, minTier, trialRuns]) =>
    registry(`${name} matches the table, and is labelled as a sandbox`, async (ctx) => {
      const answer = await (await ctx.shared("pro", "models")).get(`/api/models/${name}`);
      const kind = POLLED.includes(name) ? "http-polling" : is.oneOf("inference-platform", "llm");
      const shape = { provider: exactly({ kind }), outputs: [MEMBERS[modality]] };
      answers(answer, 200, { ...ENTRY, ...shape, modality, price, minTier, trialRuns, sandbox: true });
      assert.match(answer.text, /no AI/i);
    }),
  ),
  ...COSTS.map(([name, inputs, credits]) =>
    registry(`a run of ${name} costs a business user ${credits} credits`, async (ctx) => {
      const user = await ctx.shared("business", "models");
      answers(await user.post(`/api/models/${name}/quote`, { inputs: { prompt: "x", ...inputs } }), 200, {
        estimatedCreditCost: is.near(credits),
      });
      answers(await runModel(user, name, { ...inputs, ...QUICK }), 200, { cost: is.near(credits) });
    }),
  ),
  registry("sandbox-image creates one to four pictures", async (ctx) => {
    const user = await ctx.shared("business", "models");
    const url = { url: is.text };
    answers(await runModel(user, "sandbox-image", { count: 4, ...QUICK }), 200, { result: { images: [url, url, url, url] } });
  }),
  registry("a chat answer's price depends on its words, and is never zero", async (ctx) => {
    answers(await runModel(await ctx.shared("business", "models"), "sandbox-chat"), 200, { cost: is.positive });
  }),
  ...["sandbox-image-fast", "sandbox-speech", "sandbox-chat", "sandbox-music"].flatMap((name) =>
    FAILURES.map(([fail, code]) =>
      registry(`${name} with the fault ${fail} fails the run with ${code}`, async (ctx) => {
        const answer = await runModel(await ctx.shared("business", "models"), name, { sandbox: { latencyMs: 10, fail, status: 422 } });
        refuses(answer, 500, code);
      }),
    ),
  ),
  registry("occasional polls that return 500 don't fail a run", async (ctx) => {
    const user = await ctx.shared("business", "models");
    for (const name of ["sandbox-image-fast", "sandbox-music", "sandbox-speech", "sandbox-chat"]) {
      answers(await runModel(user, name, { sandbox: { latencyMs: 10, fail: "flap" } }), 200, { success: true });
    }
  }),
  registry("the same prompt creates the same file", async (ctx) => {
    const user = await ctx.shared("business", "models");
    const bytes = async (): Promise<Buffer> => {
      const answer = answers(await runModel(user, "sandbox-image-fast", { prompt: "twice", ...QUICK }), 200);
      return Buffer.from(await (await fetch(pick(answer, "result.images.0.url"))).arrayBuffer());
    };
    const [first, second] = [await bytes(), await bytes()];
    assert.ok(first.length > 0 && first.equals(second));
  }),
  registry("a model above the caller's tier is rejected in a workflow", async (ctx) => {
    const free = (await ctx.actor({ tier: "free" })).session;
    const graph = { nodes: [node("v", "generate-video", { model: "sandbox-video", inputs: { prompt: "x" } })] };
    refuses(await runGraph(free, graph), 403, "MODEL_TIER_REQUIRED");
  }),
];
