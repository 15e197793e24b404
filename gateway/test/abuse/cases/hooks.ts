import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import type { Answer } from "../../../../test-support/client";
import { answers, pick, refuses } from "../../conformance/check";
import type { Actor, Context } from "../../conformance/context";
import { echo, save } from "../../conformance/graphs";
import type { AbuseCase } from "../case";

const MEBIBYTE = 1024 * 1024;
const REPLAYS = 10;
/** More than a Pro user's requests per minute. */
const BEYOND_LIMIT = 130;
/** More rejected requests than an address can send per minute. */
const GUESSES = 320;
const BODY = '{"prompt":"a loom"}';
/** An expression that makes four lists for each of many elements. */
const COSTLY = "{ prompt: to_string(rows[*].cells[*].[@, @, @, @]) }";

const hookOf = async (actor: Actor, settings: Record<string, unknown>): Promise<string> => {
  const slug = await save(actor, echo({ name: "prompt", type: "text" }));
  const created = await actor.post(`/api/workflows/${slug}/hooks`, { expression: "", maxCredits: 1, ...settings });
  return new URL(pick<string>(answers(created, 201), "url")).pathname;
};
const send = (context: Context, path: string, raw: string, headers: Record<string, string> = {}): Promise<Answer> =>
  context.anonymous.call("POST", path, { raw, headers });

let replayed = "";
let signed = "";
let costly = "";

/** Attacks on hooks. Those that use up the address's limit come last. */
export const hookCases: AbuseCase[] = [
  {
    id: "hooks-body",
    title: "bodies that are too large, too deep, or too costly for the hook's expression",
    requests: 3,
    prepare: async ({ victim }) => {
      costly = await hookOf(victim, { expression: COSTLY });
    },
    attack: async ({ context }) => {
      refuses(await send(context, costly, `"${"x".repeat(2 * MEBIBYTE)}"`), 413, "PAYLOAD_TOO_LARGE");
      refuses(await send(context, costly, "[".repeat(MEBIBYTE / 2)), 400, "INVALID_REQUEST");
      const rows = Array.from({ length: 60 }, () => ({ cells: Array.from({ length: 5_000 }, () => 0) }));
      refuses(await send(context, costly, JSON.stringify({ rows })), 400, "INVALID_INPUTS");
    },
  },
  {
    id: "hooks-replayed",
    title: "one delivery to a hook, many times at once",
    requests: REPLAYS,
    prepare: async ({ victim }) => {
      replayed = await hookOf(victim, { deliveryIdHeader: "X-Delivery" });
    },
    attack: async ({ context }) => {
      const headers = { "x-delivery": randomUUID() };
      const replies = await Promise.all(Array.from({ length: REPLAYS }, () => send(context, replayed, BODY, headers)));
      for (const answer of replies) answers(answer, 202);
      assert.equal(new Set(replies.map((answer) => pick<string>(answer, "executionId"))).size, 1);
    },
  },
  {
    id: "hooks-signature",
    title: "deliveries with wrong signatures, beyond the account's limit",
    requests: BEYOND_LIMIT,
    prepare: async ({ attacker }) => {
      signed = await hookOf(attacker, { hmac: { header: "X-Signature", secret: "a secret of the sender" } });
    },
    attack: async ({ context }) => {
      let refusedCount = 0;
      for (let turn = 0; turn < BEYOND_LIMIT; turn += 1) {
        const answer = await send(context, signed, BODY, { "x-signature": `sha256=${randomBytes(32).toString("hex")}` });
        if (answer.status === 429) refusedCount += 1;
        else refuses(answer, 401, "SIGNATURE_INVALID");
      }
      assert.ok(refusedCount > 0, "there was no limit");
    },
  },
  {
    id: "hooks-guess",
    title: "addresses of hooks that do not exist",
    requests: GUESSES,
    attack: async ({ context }) => {
      let refusedCount = 0;
      for (let turn = 0; turn < GUESSES; turn += 1) {
        const answer = await send(context, `/hooks/nlh_${randomBytes(32).toString("base64url")}`, BODY);
        if (answer.status === 429) refusedCount += 1;
        else refuses(answer, 404, "NOT_FOUND");
      }
      assert.ok(refusedCount > 0, "there was no limit");
    },
  },
];
