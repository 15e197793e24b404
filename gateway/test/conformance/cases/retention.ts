import assert from "node:assert/strict";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { greeting, picture, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

/** Executions with their own retention in days. */

const keeping = inSection("D29");
const owner = (ctx: Context): Promise<Actor> => ctx.shared("business", "retention");
const idOf = (answer: Answer): string => answer.headers.get("x-execution-id") ?? "";
const run = async (actor: Actor, slug: string, body: object = {}): Promise<Answer> =>
  answers(await actor.post(`/api/workflows/${slug}/run`, { inputs: { prompt: "Ada" }, ...body }), 200);
const daysOf = async (actor: Actor, answer: Answer): Promise<unknown> =>
  answers(await actor.get(`/api/executions/${idOf(answer)}`), 200).body.retentionDays;
const emptied = (actor: Actor, path: string): Promise<Answer> =>
  eventually(
    () => actor.get(path),
    ({ body }) => (body as { inputs?: unknown }).inputs === undefined,
  );

export const retentionCases: Case[] = [
  keeping("retentionDays of a workflow is a whole number from 0 to 3650, and null removes it", async (ctx) => {
    const own = await owner(ctx);
    const slug = await save(own, { ...greeting(), retentionDays: 7 });
    const path = `/api/workflows/${slug}`;
    answers(await own.get(path), 200, { retentionDays: 7 });
    for (const retentionDays of [-1, 3_651, 1.5, "7"]) refuses(await own.put(path, { retentionDays }), 400, "INVALID_REQUEST");
    answers(await own.put(path, { retentionDays: 3_650 }), 200, { retentionDays: 3_650 });
    answers(await own.put(path, { name: "Renamed" }), 200, { retentionDays: 3_650 });
    const { body } = answers(await own.put(path, { retentionDays: null }), 200);
    assert.ok(!("retentionDays" in body));
    assert.equal(await daysOf(own, await run(own, slug)), undefined);
  }),
  keeping("the smaller retentionDays of a workflow and a run counts, also for a rerun's source", async (ctx) => {
    const own = await owner(ctx);
    const slug = await save(own, { ...greeting(), retentionDays: 30 });
    assert.equal(await daysOf(own, await run(own, slug)), 30);
    assert.equal(await daysOf(own, await run(own, slug, { retentionDays: 60 })), 30);
    const short = await run(own, slug, { retentionDays: 3 });
    assert.equal(await daysOf(own, short), 3);
    const again = (body: object) => own.post(`/api/executions/${idOf(short)}/rerun`, body);
    assert.equal(await daysOf(own, answers(await again({}), 200)), 3);
    assert.equal(await daysOf(own, answers(await again({ retentionDays: 1 }), 200)), 1);
    refuses(await own.post(`/api/workflows/${slug}/run`, { inputs: {}, retentionDays: 3_651 }), 400, "INVALID_REQUEST");
  }),
  keeping("an execution with 0 days keeps only its status and its result, can't be rerun, and its files can't be kept", async (ctx) => {
    const own = await owner(ctx);
    const slug = await save(own, picture({ sandbox: { latencyMs: 10 } }));
    const answer = await run(own, slug, { inputs: {}, retentionDays: 0, metadata: { customer: "ada" } });
    const url = pick<string>(answer, "result.images.0.url");
    const path = `/api/executions/${idOf(answer)}`;
    refuses(await own.post(`${path}/rerun`, {}), 409, "SOURCE_ERASED");
    const rows = pick<{ id: string; url: string; title: string | null }[]>(answers(await own.get("/api/media?limit=100"), 200), "rows");
    const file = rows.find((row) => new URL(row.url).pathname === new URL(url).pathname);
    assert.equal(file?.title, null);
    refuses(await own.session.post(`/api/media/${file?.id}/keep`), 409, "SOURCE_ERASED");
    answers(await emptied(own, path), 200, {
      ...{ status: "completed", nodes: [], retentionDays: 0, metadata: { customer: "ada" }, creditsCost: is.number },
      result: { images: [{ url: is.text }] },
    });
    refuses(await own.get(`${path}/graph`), 404, "EXECUTION_NOT_FOUND");
    assert.equal((await fetch(url)).status, 200);
  }),
  keeping("a batch and its items have the batch's retentionDays, and so does a rerun of its rows", async (ctx) => {
    const own = await owner(ctx);
    const slug = await save(own, { ...greeting(), retentionDays: 30 });
    const create = async (body: object): Promise<string> => {
      const created = answers(await own.post(`/api/workflows/${slug}/batches`, { inputs: [{ prompt: "Ada" }], ...body }), 202);
      return pick(created, "batchId");
    };
    const endedBatch = (id: string): Promise<Answer> =>
      eventually(
        () => own.get(`/api/batches/${id}`),
        ({ body }) => body.status === "completed",
      );
    const batchId = await create({ retentionDays: 2 });
    answers(await endedBatch(batchId), 200, { retentionDays: 2 });
    answers(await own.get(`/api/executions?batchId=${batchId}`), 200, { rows: [{ batchId }] });
    answers(await endedBatch(await create({})), 200, { retentionDays: 30 });
    const empty = await create({ retentionDays: 0 });
    await endedBatch(empty);
    refuses(await own.post(`/api/batches/${empty}/rerun`, { status: "failed" }), 409, "SOURCE_ERASED");
  }),
];
