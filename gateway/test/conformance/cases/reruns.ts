import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import type { Actor, Context } from "../context";
import { clip, edge, node, picture, request, runGraph, runModel, save, submitGraph } from "../graphs";
import type { Answer } from "../../../../test-support/client";

/** Reruns: earlier results are reused, and only the rest is charged. */

const reruns = inSection("D17");
const QUICK = { sandbox: { latencyMs: 10 } };

const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "reruns");
const idOf = (answer: Answer): string => answer.headers.get("x-execution-id") ?? "";
const again = (actor: Actor, run: Answer | string, body: object = {}): Promise<Answer> =>
  actor.post(`/api/executions/${typeof run === "string" ? run : idOf(run)}/rerun`, body);

export const rerunCases: Case[] = [
  reruns("a rerun without changes returns the same files for free, as a new execution", async (ctx) => {
    const own = await user(ctx);
    const first = answers(await runGraph(own, picture(QUICK)), 200);
    const rerun = answers(await again(own, first), 200, { success: true, cost: 0, result: (first.body as { result: object }).result });
    assert.notEqual(idOf(rerun), idOf(first));
    answers(await own.get(`/api/executions/${idOf(rerun)}`), 200, { status: "completed", rerunOf: idOf(first), creditsCost: 0 });
  }),
  reruns("calls of named nodes are repeated and charged", async (ctx) => {
    const own = await user(ctx);
    const first = answers(await runGraph(own, picture(QUICK)), 200);
    const rerun = answers(await again(own, first, { nodes: ["pic"] }), 200, { cost: pick<number>(first, "cost") });
    assert.notEqual(pick(rerun, "result.images.0.url"), pick(first, "result.images.0.url"));
    refuses(await again(own, first, { nodes: ["nowhere"] }), 400, "INVALID_REQUEST", { issues: [{ path: "nodes.0" }] });
  }),
  reruns("a rerun of a run to a node runs to that node, unless it names a version or another node", async (ctx) => {
    const own = await user(ctx);
    const { nodes, edges } = picture(QUICK);
    const other = node("other", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "a reed", ...QUICK } });
    const slug = await save(own, { nodes: [...nodes, other], edges });
    const first = answers(await own.post(`/api/workflows/${slug}/run`, { inputs: {}, until: "pic" }), 200);
    const modelIds = async (answer: Answer): Promise<string[]> =>
      pick<{ id: string }[]>(await own.get(`/api/executions/${idOf(answer)}`), "nodes").map(({ id }) => id);
    assert.ok(!(await modelIds(first)).includes("other"));
    const rerun = answers(await again(own, first), 200, { cost: 0 });
    assert.deepEqual(await modelIds(rerun), await modelIds(first));
    // A rerun of the rerun does the same.
    assert.deepEqual(await modelIds(answers(await again(own, rerun), 200, { cost: 0 })), await modelIds(first));
    assert.ok((await modelIds(answers(await again(own, first, { until: "other" }), 200, { cost: is.positive }))).includes("other"));
    answers(await own.post(`/api/workflows/${slug}/versions`, {}), 201);
    for (const version of ["draft", 1]) assert.ok((await modelIds(answers(await again(own, first, { version }), 200))).includes("other"));
    refuses(await again(own, first, { version: 0 }), 400, "INVALID_REQUEST", { issues: [{ path: "version" }] });
  }),
  reruns("a rerun of an answer with a schema is an answer with that schema", async (ctx) => {
    const own = await user(ctx);
    const schema = { type: "object", required: ["subject"], properties: { subject: { type: "string" } }, additionalProperties: false };
    const body = {
      model: "sandbox-chat",
      messages: [{ role: "user", content: "Describe a loom." }],
      response_format: { type: "json_schema", json_schema: { name: "loom", schema } },
    };
    const first = answers(await own.post("/v1/chat/completions", body), 200);
    const rerun = answers(await again(own, first, { inputs: { prompt: "Describe a reed." } }), 200, {
      result: { json: { subject: is.text } },
    });
    answers(await again(own, rerun), 200, { result: { json: { subject: is.text } } });
  }),
  reruns("a rerun of a model pays for other inputs, and takes no version", async (ctx) => {
    const own = await user(ctx);
    const first = answers(await runModel(own, "sandbox-image-fast", QUICK), 200);
    answers(await again(own, first), 200, { cost: 0 });
    answers(await again(own, first, { inputs: { prompt: "a reed", ...QUICK } }), 200, { cost: is.positive });
    refuses(await again(own, first, { version: "draft" }), 400, "INVALID_REQUEST", { issues: [{ path: "version" }] });
  }),
  reruns(
    "HTTP requests are sent again unless `reuse` names their node",
    async (ctx) => {
      const own = await user(ctx);
      const inbox = ctx.receiver!.inbox((response, count) => void response.writeHead(200).end(`answer ${count}`));
      const first = answers(await runGraph(own, request({ url: inbox.url })), 200, { result: { body: "answer 1" } });
      answers(await again(own, first, { reuse: ["get"] }), 200, { result: { body: "answer 1" } });
      answers(await again(own, first), 200, { result: { body: "answer 2" } });
      assert.equal(inbox.deliveries.length, 2);
    },
    { needs: ["receiver"] },
  ),
  reruns("a rerun under one Idempotency-Key is one run", async (ctx) => {
    const own = await user(ctx);
    const first = answers(await runGraph(own, picture(QUICK)), 200);
    const path = `/api/executions/${idOf(first)}/rerun`;
    const headers = { "idempotency-key": randomUUID() };
    const [one, two] = [await own.call("POST", path, { body: {}, headers }), await own.call("POST", path, { body: {}, headers })];
    assert.equal(idOf(answers(one, 200)), idOf(answers(two, 200)));
    assert.equal(two.headers.get("idempotency-replayed"), "true");
    refuses(await own.call("POST", path, { body: { nodes: ["pic"] }, headers }), 422, "IDEMPOTENCY_KEY_REUSED");
  }),
  reruns("a running execution can't be rerun, and another account's execution isn't found", async (ctx) => {
    const own = await user(ctx);
    const going = await submitGraph(own, clip({ latencyMs: 60_000 }));
    refuses(await again(own, going), 412, "PRECONDITION_FAILED");
    refuses(await own.post(`/api/executions/${going}/rerun/quote`, {}), 412, "PRECONDITION_FAILED");
    answers(await own.post(`/api/executions/${going}/cancel`), 200);
    refuses(await again(await ctx.actor({ tier: "pro" }), going), 404, "EXECUTION_NOT_FOUND");
  }),
  reruns("a rerun needs the capability to run the target, and the capability to read executions", async (ctx) => {
    const own = await user(ctx);
    const slug = await save(own, picture(QUICK));
    const first = answers(await own.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    const [reader, runner] = [await own.withKey(["execution:read"]), await own.withKey(["workflow:run"])];
    refuses(await again(reader, first), 403, "CAPABILITY_DENIED", { required: `workflow:${slug}:run` });
    refuses(await again(runner, first), 403, "CAPABILITY_DENIED", { required: "execution:read" });
    answers(await again(await own.withKey(["execution:read", `workflow:${slug}:run`]), first), 200, { cost: 0 });
  }),
  reruns("a rerun of another user's template runs all of it", async (ctx) => {
    const slug = await save(await user(ctx), { ...picture(QUICK), isTemplate: true });
    const guest = await ctx.actor({ tier: "pro" });
    const first = answers(await guest.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    answers(await again(guest, first), 200, { cost: 0 });
    for (const body of [{ nodes: ["pic"] }, { until: "pic" }]) refuses(await again(guest, first, body), 400, "INVALID_REQUEST");
    const part = { inputs: {}, until: "pic" };
    for (const path of ["run", "quote"]) refuses(await guest.post(`/api/workflows/${slug}/${path}`, part), 400, "INVALID_REQUEST");
  }),
  reruns("a quote lists what a rerun reuses, its earlier cost, and the cost of the rest", async (ctx) => {
    const own = await user(ctx);
    const pictures = (...items: string[]) => ({
      nodes: [
        node("list", "list", { items }),
        node("pic", "generate-image", { model: "sandbox-image-fast", inputs: QUICK }),
        node("out", "response-output"),
      ],
      edges: [edge("list.items", "pic.prompt"), edge("pic.image", "out.images")],
    });
    const slug = await save(own, pictures("a loom", "a reed"));
    const first = answers(await own.post(`/api/workflows/${slug}/run`, { inputs: {} }), 200);
    answers(await own.put(`/api/workflows/${slug}`, pictures("a loom", "a comb")), 200);
    const quote = answers(await own.post(`/api/executions/${idOf(first)}/rerun/quote`, { version: "draft" }), 200, {
      exact: true,
      nodes: [{ id: "pic", reusedItems: [0] }],
      reused: { calls: 1, of: 2, savedCredits: pick<number>(first, "cost") / 2 },
    });
    answers(await again(own, first, { version: "draft" }), 200, { cost: pick<number>(quote, "estimatedCreditCost") });
    // Without a version, the rerun uses the graph of the first run.
    answers(await again(own, first), 200, { cost: 0 });
  }),
];
