import assert from "node:assert/strict";
import { answers, pick, refuses } from "../../conformance/check";
import { finished, type Actor } from "../../conformance/context";
import { edge, node, save } from "../../conformance/graphs";
import type { AbuseCase } from "../case";

/** Number of organizations that invite and remove an attacker. */

const GUESTS = 3;
const LATENCY_MS = 1_500;

const organization = async (owner: Actor, name: string): Promise<string> =>
  pick(answers(await owner.session.post("/api/organizations", { name }), 201), "id");
const invited = async (owner: Actor, id: string, role: string): Promise<string> =>
  pick(answers(await owner.session.post(`/api/organizations/${id}/invitations`, { role }), 201), "token");
const join = async (owner: Actor, member: Actor, id: string, role: string): Promise<void> => {
  const token = await invited(owner, id, role);
  answers(await member.session.post("/api/invitations/accept", { token }), 200);
};
const within = (actor: Actor, id: string) => ({
  get: (path: string) => actor.session.call("GET", path, { headers: { "x-organization": id } }),
  post: (path: string, body: unknown) => actor.session.call("POST", path, { body, headers: { "x-organization": id } }),
});

export const organizationCases: AbuseCase[] = [
  {
    id: "organizations-invitation-twice",
    title: "one invitation, used by several at once",
    requests: GUESTS,
    attack: async ({ context, victim }) => {
      const id = await organization(victim, "Invited");
      const guests = await Promise.all(Array.from({ length: GUESTS }, () => context.actor({ tier: "free", noKey: true })));
      const token = await invited(victim, id, "owner");
      const acceptances = await Promise.all(guests.map((guest) => guest.session.post("/api/invitations/accept", { token })));
      assert.deepEqual(acceptances.map(({ status }) => status).sort(), [200, 404, 404]);
      assert.equal((answers(await victim.session.get(`/api/organizations/${id}/members`), 200).body as unknown as unknown[]).length, 2);
      answers(await victim.session.delete(`/api/organizations/${id}/members/${victim.userId}`), 204);
    },
  },
  {
    id: "organizations-removed-mid-run",
    title: "polls, results, keys and cancellations of a member who was removed while the run went on",
    requests: 5,
    attack: async ({ context, victim }) => {
      const member = await context.actor({ noKey: true });
      const id = await organization(victim, "Removed");
      answers(await context.admin.post(`/api/admin/organizations/${id}/credits`, { kind: "topup", amount: 100 }), 200);
      await join(victim, member, id, "editor");
      const { post, get } = within(member, id);
      const key = pick<string>(answers(await post("/api/keys", { name: "Kept", preset: "full-deploy" }), 201), "key");
      const slug = await save(
        { ...member.session, post },
        {
          name: "Mid-run",
          nodes: [
            node("pic", "generate-image", { model: "sandbox-image", inputs: { prompt: "a loom", sandbox: { latencyMs: LATENCY_MS } } }),
            node("out", "response-output"),
          ],
          edges: [edge("pic.image", "out.images")],
        },
      );
      const run = pick<string>(answers(await post(`/api/workflows/${slug}/run?async=true`, { inputs: {} }), 202), "executionId");
      answers(await victim.session.delete(`/api/organizations/${id}/members/${member.userId}`), 204);

      refuses(await get(`/api/executions/${run}`), 404, "NOT_FOUND");
      refuses(await post(`/api/executions/${run}/cancel`, {}), 404, "NOT_FOUND");
      refuses(await post(`/api/workflows/${slug}/run`, { inputs: {} }), 404, "NOT_FOUND");
      answers(await member.session.get(`/api/executions/${run}`), 404);
      refuses(await context.anonymous.call("GET", "/api/workflows", { key }), 401, "UNAUTHENTICATED");

      const owners = within(victim, id);
      const endedRun = await finished({ ...victim, get: owners.get }, run);
      assert.equal(pick(endedRun, "status"), "completed", endedRun.text);
      assert.equal(pick(endedRun, "startedBy"), member.userId);
      assert.equal(pick<{ topUp: number }>(answers(await owners.get("/api/me"), 200), "credits").topUp < 100, true);
    },
  },
  {
    id: "organizations-other-id",
    title: "ids of others' organizations and accounts as the organization of a request",
    requests: 4,
    attack: async ({ attacker, victim }) => {
      const id = await organization(victim, "Aimed at");
      for (const aimed of [id, victim.userId, `${id} ${id}`, "../admin"]) {
        refuses(await within(attacker, aimed).get("/api/workflows"), 404, "NOT_FOUND");
        refuses(await attacker.call("GET", "/api/workflows", { headers: { "x-organization": aimed } }), 404, "NOT_FOUND");
      }
      answers(await attacker.session.get(`/api/organizations/${id}/audit`), 404);
    },
  },
];
