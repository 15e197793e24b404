import assert from "node:assert/strict";
import { answers, refuses } from "../../conformance/check";
import type { AbuseCase } from "../case";

/** Attempts to take an account or its data from its owner. */
export const leavingCases: AbuseCase[] = [
  {
    id: "leaving-export-of-others",
    title: "archives of another's account: by the administrators' addresses, by a key, and with the owner's address of one's own",
    requests: 6,
    attack: async ({ attacker, victim }) => {
      const others = `/api/admin/users/${victim.userId}/export`;
      for (const caller of [attacker, attacker.session]) {
        for (const reply of [await caller.post(others), await caller.get(`${others}/file`)])
          if (reply.status !== 429) refuses(reply, 403, "CAPABILITY_DENIED");
      }
      refuses(await attacker.get("/api/me/export"), 403, "SESSION_REQUIRED");
      const own = await attacker.session.get(`/api/me/export/file?userId=${victim.userId}`);
      assert.ok(own.status !== 200 || !own.text.includes(victim.email));
    },
  },
  {
    id: "leaving-by-key",
    title: "an account deleted and restored by its key, by a session without the password, and by another's",
    requests: 6,
    attack: async ({ attacker, victim }) => {
      const replies = [
        await victim.call("DELETE", "/api/me", { body: { password: victim.password } }),
        await victim.post("/api/me/restore"),
        await attacker.call("DELETE", `/api/admin/users/${victim.userId}`),
        await attacker.session.call("DELETE", `/api/admin/users/${victim.userId}`),
      ];
      for (const answer of replies) assert.ok([403, 429].includes(answer.status), `${answer.status}: ${answer.text}`);
      const guessed = await attacker.session.call("DELETE", "/api/me", { body: { password: "a guess of some length" } });
      if (guessed.status !== 429) refuses(guessed, 401, "UNAUTHENTICATED");
      const open = await attacker.session.call("DELETE", "/api/me", { body: {} });
      if (open.status !== 429) refuses(open, 400, "INVALID_REQUEST");
      const { body } = answers(await victim.session.get("/api/me"), 200);
      assert.equal(body.erasesAt, undefined);
    },
  },
];
