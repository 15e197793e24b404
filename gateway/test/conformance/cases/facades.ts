import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, fits, is, pick } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { picture, save } from "../graphs";
import { isSignedBy } from "../../../../test-support/receiver";
import { freshPng } from "./media";

/** The APIs of fal and Replicate on normal executions. */

const facades = inSection("D34");
const SLOW = { prompt: "a loom", sandbox: { latencyMs: 60_000 } };
const QUICK = { prompt: "a loom", sandbox: { latencyMs: 10 } };
const MODEL = "nodeloom/sandbox-image-fast";
const PREDICTIONS = "/replicate/v1/predictions";

const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "facades");

/** Polls a request of fal until it ends, at the address that fal's libraries use. */
const falEnd = (own: Actor, id: string) =>
  eventually(
    () => own.get(`/fal/${MODEL}/requests/${id}/status?logs=1`),
    ({ status }) => status !== 202,
  );

const DELIVERED_MS = 60_000;

/**
 * Checks that the API sends a run's own webhook.
 * @param begin returns the id of the request or prediction
 */
const expectWebhook = async (ctx: Context, begin: (own: Actor, url: string) => Promise<string>, expected: object): Promise<void> => {
  const [inbox, keys] = [ctx.receiver!.inbox(), ctx.receiver!.inbox()];
  const own = await ctx.actor({ tier: "enterprise", webhook: { url: keys.url } });
  const secret = pick<string>(answers(await own.session.get("/api/webhook-secret"), 200), "secret");
  const id = await begin(own, inbox.url);
  const [message] = await eventually(
    () => Promise.resolve(inbox.deliveries),
    (all) => all.length > 0,
    DELIVERED_MS,
  );
  assert.ok(isSignedBy(secret, message!));
  fits(JSON.parse(message!.body), expected);
  assert.ok(message!.body.includes(id));
  assert.equal(keys.deliveries.length, 0);
  answers(await own.get(`/api/executions/${id}`), 200, { webhookDelivery: { configured: true, url: inbox.url } });
};

export const facadeCases: Case[] = [
  facades(
    "fal: the end of a request is sent to its webhook in fal's form, signed with the account's secret for runs",
    async (ctx) => {
      const begin = async (own: Actor, url: string): Promise<string> =>
        pick(answers(await own.post(`/fal/${MODEL}?fal_webhook=${encodeURIComponent(url)}`, QUICK), 200), "request_id");
      await expectWebhook(ctx, begin, { status: "OK", error: null, payload: {} });
    },
    { needs: ["receiver"] },
  ),
  facades(
    "Replicate: the end of a prediction is sent to its webhook, even if the request waited for it",
    async (ctx) => {
      const begin = async (own: Actor, url: string): Promise<string> => {
        const body = { version: MODEL, input: QUICK, webhook: url, webhook_events_filter: ["completed"] };
        return pick(answers(await own.call("POST", PREDICTIONS, { body, headers: { prefer: "wait" } }), 201), "id");
      };
      await expectWebhook(ctx, begin, { status: "succeeded", model: MODEL });
    },
    { needs: ["receiver"] },
  ),
  facades("a webhook of a request needs webhook:receive and a public address", async (ctx) => {
    const own = await user(ctx);
    const path = `/fal/${MODEL}?fal_webhook=${encodeURIComponent("https://example.com/hook")}`;
    const inside = `/fal/${MODEL}?fal_webhook=${encodeURIComponent("http://10.0.0.1/hook")}`;
    answers(await own.post(inside, QUICK), 422, { detail: [{ loc: ["body", "fal_webhook"] }] });
    const without = await own.withKey(["model:run"]);
    answers(await without.post(path, QUICK), 403, { error_type: "CAPABILITY_DENIED", required: "webhook:receive" });
    answers(await own.post(`/fal/${MODEL}?fal_webhook=nowhere`, QUICK), 422, { detail: [{ loc: ["body", "fal_webhook"] }] });
  }),
  facades("fal: a request is queued, followed and read, and is an execution like any other", async (ctx) => {
    const own = await user(ctx);
    const submitted = answers(await own.post(`/fal/${MODEL}`, QUICK), 200, { status: "IN_QUEUE", request_id: is.uuid });
    const id = pick(submitted, "request_id");
    assert.ok(pick(submitted, "status_url").endsWith(`/fal/${MODEL}/requests/${id}/status`));
    answers(await falEnd(own, id), 200, { status: "COMPLETED", request_id: id, metrics: { inference_time: is.positive } });
    answers(await own.get(`/fal/${MODEL}/requests/${id}`), 200, { images: [{ url: is.text }] });
    answers(await own.get(`/api/executions/${id}`), 200, { status: "completed", creditsCost: is.positive, source: "api-slim" });
  }),
  facades(
    "fal: a file is uploaded without a key at an address that a key asked for, and is an input of its account's runs",
    async (ctx) => {
      const own = await user(ctx);
      const bytes = freshPng();
      const initiated = answers(await own.post("/fal/rest/storage/upload/initiate", { file_name: "boat.png" }), 200);
      const image = pick<string>(initiated, "file_url");
      const put = (url: string) => fetch(url, { method: "PUT", body: new Uint8Array(bytes) });
      assert.equal((await put(pick(initiated, "upload_url"))).status, 200);
      assert.equal((await put(`${pick<string>(initiated, "upload_url")}0`)).status, 403);
      assert.deepEqual(Buffer.from(await (await fetch(image)).arrayBuffer()), bytes);
      answers(await own.post("/fal/run/nodeloom/sandbox-image", { ...QUICK, image }), 200, { images: [{ url: is.text }] });
      const stranger = await ctx.shared("business", "keys of others");
      answers(await stranger.post("/fal/run/nodeloom/sandbox-image", { ...QUICK, image }), 422, { detail: [{ loc: ["body", "image"] }] });
    },
  ),
  facades("fal: a cancelled request ends, and reports that its client cancelled it", async (ctx) => {
    const own = await user(ctx);
    const id = pick(answers(await own.post(`/fal/${MODEL}`, SLOW), 200), "request_id");
    answers(await own.call("PUT", `/fal/${MODEL}/requests/${id}/cancel`), 202, { status: "CANCELLATION_REQUESTED" });
    answers(await falEnd(own, id), 200, { status: "COMPLETED", error_type: "client_cancelled" });
    answers(await own.get(`/fal/${MODEL}/requests/${id}`), 499, { error_type: "client_cancelled" });
    answers(await own.call("PUT", `/fal/${MODEL}/requests/${id}/cancel`), 400, { status: "ALREADY_COMPLETED" });
  }),
  facades("fal: a workflow runs by its slug, and a synchronous request returns its result", async (ctx) => {
    const own = await user(ctx);
    const slug = await save(own, picture(QUICK));
    answers(await own.post(`/fal/run/workflow/${slug}`, {}), 200, { images: [{ url: is.text }] });
    answers(await own.post(`/fal/run/workflow/${slug}@production`, {}), 200, { images: [{ url: is.text }] });
  }),
  facades("fal: invalid inputs are named in the form of fal's validation, and nothing runs", async (ctx) => {
    const own = await user(ctx);
    const wrong = answers(await own.post(`/fal/${MODEL}`, { nonsense: 1 }), 422, { error_type: "INVALID_INPUTS" });
    assert.ok(pick<{ loc: string[] }[]>(wrong, "detail").every(({ loc }) => loc[0] === "body"));
    answers(await own.post("/fal/nobody/nothing", {}), 404, { error_type: "MODEL_NOT_FOUND", detail: is.text });
    answers(await own.get(`/fal/${MODEL}/requests/1f0c5b1e-2c54-4d0b-9a0e-5f3c2f6f7a11`), 404, { error_type: "EXECUTION_NOT_FOUND" });
  }),
  facades("Replicate: a prediction that the request waits for has its output, and is an execution like any other", async (ctx) => {
    const own = await user(ctx);
    const created = await own.call("POST", `/replicate/v1/models/${MODEL}/predictions`, {
      body: { input: QUICK },
      headers: { prefer: "wait=60" },
    });
    answers(created, 201, { status: "succeeded", model: MODEL, error: null, input: QUICK, output: [is.text] });
    const id = pick(created, "id");
    answers(await own.get(`${PREDICTIONS}/${id}`), 200, { id, status: "succeeded", completed_at: is.text });
    answers(await own.get(`/api/executions/${id}`), 200, { status: "completed", creditsCost: is.positive });
    const listed = pick<{ id: string }[]>(answers(await own.get(PREDICTIONS), 200, { previous: null }), "results");
    assert.ok(listed.some((each) => each.id === id));
  }),
  facades("Replicate: a prediction without a wait is starting, and can be cancelled", async (ctx) => {
    const own = await user(ctx);
    const id = pick(answers(await own.post(PREDICTIONS, { version: MODEL, input: SLOW }), 201, { status: "starting" }), "id");
    answers(await own.post(`${PREDICTIONS}/${id}/cancel`), 200);
    const over = await eventually(
      () => own.get(`${PREDICTIONS}/${id}`),
      ({ body }) => !["starting", "processing"].includes((body as { status: string }).status),
    );
    answers(over, 200, { status: "canceled", output: null });
  }),
  facades("Replicate: errors are RFC 7807 problems that name the invalid fields", async (ctx) => {
    const own = await user(ctx);
    const wrong = answers(await own.post(PREDICTIONS, { version: MODEL, input: { nonsense: 1 } }), 422, {
      ...{ title: "Input validation failed", status: 422, detail: is.text },
    });
    assert.ok(pick<{ field: string }[]>(wrong, "invalid_fields").some(({ field }) => field.startsWith("input")));
    answers(await own.post("/replicate/v1/models/nobody/nothing/predictions", { input: {} }), 404, { status: 404, title: "Not Found" });
  }),
];
