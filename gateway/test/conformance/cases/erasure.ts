import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { inSection, type Case } from "../case";
import { answers, is, pick, refuses } from "../check";
import { eventually, type Actor, type Context } from "../context";
import { greeting, picture, runGraph, save } from "../graphs";
import type { Answer } from "../../../../test-support/client";

/** Deletion of runs with all their data. */

const erasing = inSection("D29");
const RUN = { inputs: { prompt: "Ada" } };
const idOf = (answer: Answer): string => answer.headers.get("x-execution-id") ?? "";
const owner = (ctx: Context): Promise<Actor> => ctx.shared("business", "erasing");
const run = (actor: Actor, slug: string, body: object = RUN, headers: Record<string, string> = {}): Promise<Answer> =>
  actor.call("POST", `/api/workflows/${slug}/run`, { body, headers });

const runGraphLater = async (actor: Actor): Promise<Answer> => {
  const slug = await save(actor, picture({ sandbox: { latencyMs: 20_000 } }));
  return actor.call("POST", `/api/workflows/${slug}/run`, { body: { inputs: {} }, headers: { prefer: "respond-async" } });
};

export const erasureCases: Case[] = [
  erasing("a deleted execution is missing from reads, lists and events, and can't be deleted or rerun again", async (ctx) => {
    const own = await owner(ctx);
    const executionId = idOf(answers(await run(own, await save(own, greeting())), 200));
    const path = `/api/executions/${executionId}`;
    answers(await own.session.delete(path), 204);
    for (const removedPath of [path, `${path}/graph`, `${path}/events`]) refuses(await own.get(removedPath), 404, "EXECUTION_NOT_FOUND");
    refuses(await own.session.delete(path), 404, "EXECUTION_NOT_FOUND");
    refuses(await own.post(`${path}/rerun`, {}), 404, "EXECUTION_NOT_FOUND");
    const { body } = answers(await own.get("/api/executions?limit=100"), 200);
    assert.ok(!JSON.stringify(body).includes(executionId));
  }),
  erasing("the Idempotency-Key of a deleted execution repeats the 404, and runs nothing", async (ctx) => {
    const own = await owner(ctx);
    const slug = await save(own, greeting());
    const key = { "idempotency-key": randomUUID() };
    const executionId = idOf(answers(await run(own, slug, RUN, key), 200));
    answers(await own.session.delete(`/api/executions/${executionId}`), 204);
    for (const headers of [key, { ...key, prefer: "respond-async" }]) {
      const again = refuses(await run(own, slug, RUN, headers), 404, "EXECUTION_NOT_FOUND");
      assert.equal(again.headers.get("idempotency-replayed"), "true");
    }
  }),
  erasing("files of a deleted execution are removed, except kept ones", async (ctx) => {
    const own = await owner(ctx);
    const makePicture = async (): Promise<{ executionId: string; url: string; id: string }> => {
      const answer = answers(await runGraph(own, picture({ sandbox: { latencyMs: 10 } })), 200);
      const url = pick<string>(answer, "result.images.0.url");
      const rows = pick<{ id: string; url: string }[]>(answers(await own.session.get("/api/media?limit=100"), 200), "rows");
      const key = new URL(url).pathname;
      const id = rows.find((row) => new URL(row.url).pathname === key)?.id ?? "";
      return { executionId: idOf(answer), url, id };
    };
    const [plain, keptPicture] = [await makePicture(), await makePicture()];
    answers(await own.session.post(`/api/media/${keptPicture.id}/keep`), 200);
    for (const { executionId } of [plain, keptPicture]) answers(await own.session.delete(`/api/executions/${executionId}`), 204);
    const status = async (url: string): Promise<number> => (await fetch(url)).status;
    await eventually(
      () => status(plain.url),
      (now) => now === 404,
    );
    assert.equal(await status(keptPicture.url), 200);
  }),
  erasing("usage keeps the amounts of a deleted execution, without its metadata", async (ctx) => {
    const own = await owner(ctx);
    const slug = await save(own, greeting());
    const customer = `customer-${randomUUID()}`;
    const executionId = idOf(answers(await run(own, slug, { ...RUN, metadata: { customer } }), 200));
    const summary = () => own.session.get("/api/usage/summary?groupBy=metadata.customer");
    await eventually(summary, ({ text }) => text.includes(customer));
    answers(await own.session.delete(`/api/executions/${executionId}`), 204);
    await eventually(summary, ({ status, text }) => status === 200 && !text.includes(customer));
    const rows = answers(await own.get("/api/usage?limit=100"), 200);
    assert.ok(rows.text.includes(executionId));
  }),
  erasing("a running execution can't be deleted", async (ctx) => {
    const own = await owner(ctx);
    const { body } = answers(await runGraphLater(own), 202, { executionId: is.uuid });
    const path = `/api/executions/${String(body.executionId)}`;
    refuses(await own.session.delete(path), 409, "EXECUTION_NOT_FINAL");
    answers(await own.post(`${path}/cancel`), 200);
    const { delete: remove } = own.session;
    answers(
      await eventually(
        () => remove(path),
        ({ status }) => status === 204,
      ),
      204,
    );
  }),
  erasing("a key deletes executions only with execution:delete, and only those with its metadata if that is fixed", async (ctx) => {
    const own = await owner(ctx);
    const slug = await save(own, greeting());
    const path = `/api/executions/${idOf(answers(await run(own, slug), 200))}`;
    for (const grants of [["execution:*"], ["execution:cancel"]])
      refuses(await (await own.withKey(grants)).delete(path), 403, "CAPABILITY_DENIED", { required: "execution:delete" });
    const bound = await own.withKey(["execution:delete"]);
    answers(await own.session.patch(`/api/keys/${bound.keyId}`, { metadata: { customer: "ada" } }), 200);
    refuses(await bound.delete(path), 404, "EXECUTION_NOT_FOUND");
    answers(await (await own.withKey(["execution:delete"])).delete(path), 204);
    const stranger = await ctx.actor({ tier: "business" });
    const theirs = `/api/executions/${idOf(answers(await run(own, slug), 200))}`;
    refuses(await stranger.session.delete(theirs), 404, "EXECUTION_NOT_FOUND");
  }),
  erasing("capabilities granted by name need the Business tier", async (ctx) => {
    const pro = await ctx.actor({ tier: "pro" });
    for (const capability of ["execution:delete", "erasure:write"])
      refuses(await pro.session.post("/api/keys", { name: "named", capabilities: [capability] }), 403, "CAPABILITY_ABOVE_CEILING");
  }),
];
