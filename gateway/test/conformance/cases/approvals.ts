import assert from "node:assert/strict";
import { inSection, type Case, type CaseOptions } from "../case";
import { answers, exactly, fits, is, pick, refuses, rowsOf } from "../check";
import { eventually, finished, within, type Actor, type Caller, type Context } from "../context";
import type { Answer } from "../../../../test-support/client";
import { edge, node, runGraph, save, submitGraph, type Graph } from "../graphs";

const control = inSection("D22");
const NEEDS: CaseOptions = { needs: ["receiver"] };
const RACERS = 50;

const user = (ctx: Context): Promise<Actor> => ctx.shared("enterprise", "approvals");

/** A text with an approval, and a result for each decision. */
const reviewed = (data: Record<string, unknown> = {}): Graph => ({
  name: "Reviewed",
  nodes: [
    node("draft", "text-box", { text: "a paper boat" }),
    node("review", "approval", { title: "Good?", ...data }),
    node("yes", "text-box", { text: "sent: {{what}}" }),
    node("no", "text-box", { text: "dropped: {{what}}" }),
    node("out", "response-output"),
  ],
  edges: [
    edge("draft.text", "review.value"),
    edge("review.approved", "yes.what"),
    edge("review.rejected", "no.what"),
    edge("yes.text", "out.text"),
    edge("no.text", "out.text"),
  ],
});

const begin = async (ctx: Context, data?: Record<string, unknown>): Promise<{ actor: Actor; id: string }> => {
  const actor = await user(ctx);
  const answer = answers(await runGraph(actor, reviewed(data)), 202, { status: "processing" });
  return { actor, id: pick(answer, "executionId") };
};
const decide = (caller: Pick<Actor, "post">, id: string, body: Record<string, unknown>) =>
  caller.post(`/api/executions/${id}/decisions`, { nodeId: "review", ...body });

type Member = Caller & Pick<Actor, "userId" | "email">;

/** An organization's owner, an editor and a runner, who act for it by session. */
const team = async (ctx: Context): Promise<Record<"owner" | "editor" | "runner", Member>> => {
  const owner = await ctx.actor({ tier: "pro" });
  const id = pick<string>(answers(await owner.session.post("/api/organizations", { name: "Loom Works" }), 201), "id");
  const join = async (role: string): Promise<Actor> => {
    const token = pick(answers(await owner.session.post(`/api/organizations/${id}/invitations`, { role }), 201), "token");
    const actor = await ctx.actor({ tier: "free" });
    answers(await actor.session.post("/api/invitations/accept", { token }), 200);
    return actor;
  };
  const memberOf = ({ session, userId, email }: Actor): Member => ({ ...within(session, id), userId, email });
  return { owner: memberOf(owner), editor: memberOf(await join("editor")), runner: memberOf(await join("runner")) };
};

export const approvalCases: Case[] = [
  control("a synchronous run returns 202 once it waits, with its decision", async (ctx) => {
    const { actor, id } = await begin(ctx, { instructions: "Look twice.", timeoutHours: 1 });
    fits((await actor.get(`/api/executions/${id}`)).body, {
      status: "processing",
      waitingFor: [
        {
          ...{ nodeId: "review", title: "Good?", instructions: "Look twice.", onTimeout: "reject", value: "a paper boat" },
          ...{ since: is.time, until: is.time },
        },
      ],
    });
    answers(await decide(actor, id, { decision: "reject" }), 200, { nodeId: "review", decision: "reject", decidedAt: is.time });
    const { body } = await finished(actor, id);
    fits(body, { status: "completed", result: { text: "dropped: a paper boat" } });
    assert.equal((body as { waitingFor?: unknown }).waitingFor, undefined);
    const states = pick<{ id: string; status: string }[]>(body, "nodes").map((one) => `${one.id} ${one.status}`);
    assert.ok(states.includes("yes skipped") && states.includes("no completed"), states.join());
  }),
  control("an approved value continues with the decision's change, and keeps its type", async (ctx) => {
    const { actor, id } = await begin(ctx);
    refuses(await decide(actor, id, { decision: "approve", value: 7 }), 400, "INVALID_REQUEST", {
      issues: [{ path: "value", message: is.text }],
    });
    refuses(await decide(actor, id, { decision: "approve", value: "x".repeat(9_000) }), 400, "INVALID_REQUEST");
    answers(await decide(actor, id, { decision: "approve", value: "a paper ship" }), 200);
    fits((await finished(actor, id)).body, { status: "completed", result: { text: "sent: a paper ship" } });
  }),
  control("a decision records its maker, by session or key, with a comment, and is an audit row", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const comment = "The boat is too small.";
    const decidedIn = async (by: Pick<Actor, "post">, decidedBy: Record<string, unknown>): Promise<string> => {
      const id = pick<string>(answers(await runGraph(actor, reviewed()), 202), "executionId");
      const decision = { nodeId: "review", decision: "reject", decidedBy: exactly(decidedBy), comment, decidedAt: is.time };
      answers(await decide(by, id, { decision: "reject", comment }), 200, decision);
      const { body } = await finished(actor, id);
      fits((body as { decisions: unknown }).decisions, [{ ...decision, by: "owner" }]);
      return id;
    };
    const ids = [await decidedIn(actor.session, { userId: actor.userId }), await decidedIn(actor, { keyId: actor.keyId })];
    const { rows } = answers(await actor.session.get(`/api/organizations/${actor.userId}/audit`), 200).body as {
      rows: { action: string; target: string; change: unknown; outcome: string }[];
    };
    for (const id of ids) {
      const row = rows.find(({ action, target }) => action === "execution.decide" && target === id);
      fits(row, { change: { nodeId: "review", decision: "reject", comment }, outcome: "done" });
    }
    const { id } = await begin(ctx);
    refuses(await decide(await user(ctx), id, { decision: "reject", comment: "x".repeat(2_001) }), 400, "INVALID_REQUEST");
    answers(await decide(await user(ctx), id, { decision: "reject" }), 200, { comment: null });
  }),
  control("only an approval's approvers decide it, by role, id or address, and not the person who started the run", async (ctx) => {
    const { owner, editor, runner } = await team(ctx);
    const start = async (data: Record<string, unknown>): Promise<string> => {
      const slug = await save(owner, reviewed(data));
      return pick(answers(await runner.post(`/api/workflows/${slug}/run`, { inputs: {} }), 202), "executionId");
    };
    const waitingOf = async (id: string): Promise<unknown> => pick(answers(await owner.get(`/api/executions/${id}`), 200), "waitingFor");
    const reject = (by: Member, id: string): Promise<Answer> => decide(by, id, { decision: "reject" });

    const byRole = await start({ approvers: ["editor"] });
    fits(await waitingOf(byRole), [{ approvers: ["editor"] }]);
    refuses(await reject(runner, byRole), 403, "NOT_APPROVER");
    answers(await reject(editor, byRole), 200, { decidedBy: exactly({ userId: editor.userId }) });

    const byId = await start({ approvers: [runner.userId] });
    refuses(await reject(owner, byId), 403, "NOT_APPROVER");
    answers(await reject(runner, byId), 200);

    // The editor's email address isn't confirmed.
    const byAddress = await start({ approvers: [editor.email] });
    refuses(await reject(editor, byAddress), 403, "NOT_APPROVER");

    const byOther = await start({ notStarter: true });
    fits(await waitingOf(byOther), [{ notStarter: true }]);
    refuses(await reject(runner, byOther), 403, "NOT_APPROVER");
    answers(await reject(owner, byOther), 200);

    const vague = await save(owner, reviewed({ approvers: ["{{who}}"] }));
    refuses(await runner.post(`/api/workflows/${vague}/run`, { inputs: {} }), 422, "WORKFLOW_INVALID");
  }),
  control("mailed links are read and used signed out, only with their token, and never by GET", async (ctx) => {
    const link = "/api/approvals/link";
    refuses(await ctx.anonymous.post(link, { token: "x".repeat(43) }), 404, "NOT_FOUND");
    refuses(await ctx.anonymous.post(`${link}/decision`, { token: "x".repeat(43), decision: "approve" }), 404, "NOT_FOUND");
    refuses(await ctx.anonymous.post(link, { token: "" }), 400, "INVALID_REQUEST");
    refuses(await ctx.anonymous.post(`${link}/decision`, { token: "x", decision: "maybe" }), 400, "INVALID_REQUEST");
    refuses(
      await ctx.anonymous.post(`${link}/decision`, { token: "x", decision: "approve", comment: "x".repeat(2_001) }),
      400,
      "INVALID_REQUEST",
    );
    refuses(await ctx.anonymous.get(`${link}?token=${"x".repeat(43)}`), 405, "METHOD_NOT_ALLOWED");
  }),
  control("settings of a batch can't name other approvers", async (ctx) => {
    const actor = await user(ctx);
    const slug = await save(actor, reviewed({ approvers: ["owner"] }));
    const items = [{ inputs: {}, settings: { review: { approvers: ["eve@example.com"] } } }];
    refuses(await actor.post(`/api/workflows/${slug}/batches`, { items }), 400, "INVALID_INPUTS");
  }),
  control("of fifty simultaneous decisions exactly one succeeds, and all others get 409", async (ctx) => {
    const { actor, id } = await begin(ctx);
    const answered = await Promise.all(
      Array.from({ length: RACERS }, (_, index) => decide(actor, id, { decision: index % 2 === 0 ? "approve" : "reject" })),
    );
    const won = answered.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    const decision = pick(won[0]!, "decision");
    for (const answer of answered) if (answer.status !== 200) refuses(answer, 409, "NOT_WAITING", { decision, decidedBy: "owner" });
    const text = decision === "approve" ? "sent: a paper boat" : "dropped: a paper boat";
    fits((await finished(actor, id)).body, { result: { text } });
    refuses(await decide(actor, id, { decision: "approve" }), 409, "NOT_WAITING", { decision, decidedBy: "owner" });
  }),
  control("a decision under an Idempotency-Key is made once, and its response is repeated", async (ctx) => {
    const { actor, id } = await begin(ctx);
    const path = `/api/executions/${id}/decisions`;
    const body = { nodeId: "review" };
    const headers = { "idempotency-key": `decide-${id}` };
    const send = (decision: string): Promise<Answer> => actor.call("POST", path, { body: { ...body, decision }, headers });
    const first = answers(await send("approve"), 200);
    assert.deepEqual(answers(await send("approve"), 200).body, first.body);
    refuses(await send("reject"), 422, "IDEMPOTENCY_KEY_REUSED");
    await finished(actor, id);
  }),
  control("only the owner decides, by key only with the run capability of the workflow", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const slug = await save(actor, reviewed());
    const id = pick(answers(await actor.post(`/api/workflows/${slug}/run`, { inputs: {} }), 202), "executionId");
    refuses(await decide(await user(ctx), id, { decision: "approve" }), 404, "EXECUTION_NOT_FOUND");
    const reader = await actor.withKey(["execution:read", "execution:cancel", "workflow:read"]);
    refuses(await decide(reader, id, { decision: "approve" }), 403, "CAPABILITY_DENIED", { required: `workflow:${slug}:run` });
    refuses(await decide(await actor.withKey(["workflow:other:run"]), id, { decision: "approve" }), 403, "CAPABILITY_DENIED");
    refuses(await decide(actor, id, { nodeId: "draft", decision: "approve" }), 404, "NOT_FOUND");
    refuses(await decide(actor, id, { decision: "maybe" }), 400, "INVALID_REQUEST");
    answers(await decide(await actor.withKey([`workflow:${slug}:run`]), id, { decision: "approve" }), 200);
    fits((await finished(actor, id)).body, { status: "completed" });
  }),
  control("after the deadline, onTimeout decides", async (ctx) => {
    const { actor, id } = await begin(ctx, { timeoutHours: 0.0003, onTimeout: "approve" });
    fits((await finished(actor, id)).body, { status: "completed", result: { text: "sent: a paper boat" } });
    refuses(await decide(actor, id, { decision: "reject" }), 409, "NOT_WAITING", { decision: "approve", decidedBy: "timeout" });
  }),
  control("a waiting run is cancelled at once, and can't be decided then", async (ctx) => {
    const { actor, id } = await begin(ctx);
    answers(await actor.post(`/api/executions/${id}/cancel`), 200, { status: "cancel_requested" });
    fits((await finished(actor, id)).body, { status: "cancelled" });
    refuses(await decide(actor, id, { decision: "approve" }), 409, "NOT_WAITING");
  }),
  control("a waiting run takes no place, and waiting decisions are listed and counted", async (ctx) => {
    const actor = await ctx.actor({ tier: "pro" });
    const ids = await Promise.all(Array.from({ length: 12 }, () => submitGraph(actor, reviewed())));
    const waiting = await eventually(
      () => actor.get("/api/executions?waiting=true"),
      (answer) => rowsOf(answer).length === ids.length,
    );
    assert.deepEqual(
      rowsOf<{ executionId: string }>(waiting)
        .map(({ executionId }) => executionId)
        .sort(),
      [...ids].sort(),
    );
    answers(await actor.get("/api/executions/waiting"), 200, { waiting: ids.length });
    for (const id of ids) answers(await decide(actor, id, { decision: "reject" }), 200);
    for (const id of ids) await finished(actor, id);
    answers(await actor.get("/api/executions/waiting"), 200, { waiting: 0 });
  }),
  control("a quote with an approval isn't exact if later nodes cost something", async (ctx) => {
    const graph = reviewed();
    graph.nodes.splice(2, 2, node("yes", "generate-image", { model: "sandbox-image-fast", inputs: { prompt: "{{what}}" } }));
    graph.edges = [edge("draft.text", "review.value"), edge("review.approved", "yes.what"), edge("yes.image", "out.images")];
    const actor = await user(ctx);
    answers(await actor.post(`/api/workflows/${await save(actor, graph)}/quote`, { inputs: {} }), 200, { exact: false });
  }),
  control(
    "a synchronous run that returned 202 announces its wait and its end, to the key's webhook or to its own",
    async (ctx) => {
      const events = ["execution.waiting", "execution.completed"];
      const inboxes = [ctx.receiver!.inbox(), ctx.receiver!.inbox()] as const;
      const actor = await ctx.actor({ tier: "pro", webhook: { url: inboxes[0].url, events } });
      const slug = await save(actor, reviewed());
      for (const [index, webhook] of [undefined, { url: inboxes[1].url, events }].entries()) {
        const configured = { webhookDelivery: { configured: true, url: inboxes[index]!.url } };
        const answer = await actor.post(`/api/workflows/${slug}/run`, { inputs: {}, ...(webhook ? { webhook } : {}) });
        const id = pick<string>(answers(answer, 202, configured), "executionId");
        const heardOf = (count: number) =>
          eventually(
            () => Promise.resolve(inboxes[index]!.deliveries),
            (all) => all.length >= count,
          );
        // A node that no longer waits isn't announced.
        await heardOf(1);
        answers(await decide(actor, id, { decision: "approve" }), 200);
        await finished(actor, id);
        const sentEvents = (await heardOf(2)).map(({ body }) => JSON.parse(body) as { type: string; data: { executionId: string } });
        assert.deepEqual(
          sentEvents.map(({ type }) => type),
          events,
        );
        for (const { data } of sentEvents) assert.equal(data.executionId, id);
      }
      assert.equal(inboxes[0].deliveries.length, 2);
    },
    NEEDS,
  ),
  control(
    "execution.waiting is sent, with a link to the console, only to webhooks that subscribe to it",
    async (ctx) => {
      const inboxes = [ctx.receiver!.inbox(), ctx.receiver!.inbox()] as const;
      const namedActor = await ctx.actor({
        tier: "pro",
        webhook: { url: inboxes[0].url, events: ["execution.waiting", "execution.completed"] },
      });
      const unnamed = await ctx.actor({ tier: "pro", webhook: { url: inboxes[1].url } });
      const ids = await Promise.all([namedActor, unnamed].map((actor) => submitGraph(actor, reviewed())));
      const [first] = await eventually(
        () => Promise.resolve(inboxes[0].deliveries),
        (all) => all.length >= 1,
      );
      assert.equal(first!.headers["webhook-id"], `msg_${ids[0]!}.waiting.review`);
      fits(JSON.parse(first!.body), {
        type: "execution.waiting",
        data: { executionId: ids[0]!, nodeId: "review", status: "processing", waitingFor: [{ nodeId: "review" }], consoleUrl: is.text },
      });
      for (const [index, actor] of [namedActor, unnamed].entries()) {
        await eventually(
          () => decide(actor, ids[index]!, { decision: "approve" }),
          ({ status }) => status === 200,
        );
        await finished(actor, ids[index]!);
      }
      for (const { deliveries } of inboxes)
        await eventually(
          () => Promise.resolve(deliveries),
          (all) => all.some(({ body }) => (JSON.parse(body) as { type: string }).type === "execution.completed"),
        );
      assert.equal(inboxes[1].deliveries.length, 1);
      assert.equal(inboxes[0].deliveries.length, 2);
    },
    NEEDS,
  ),
];
