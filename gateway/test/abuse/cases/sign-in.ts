import assert from "node:assert/strict";
import { request } from "node:http";
import { answers, pick, refuses } from "../../conformance/check";
import type { Actor } from "../../conformance/context";
import { codeOf, wrongCode } from "../../../../test-support/authenticator";
import type { AbuseCase, Cast } from "../case";

const GUESSES = 12;
const AT_ONCE = 4;
/** Another computer's address for the service. */
const ELSEWHERE = "127.0.0.2";
const CODE_PATH = "/api/auth/login/code";

/** Parameters that a browser can send: no state, a forged state, many states, errors. */
const FORGED = ["code=x", `code=x&state=${"s".repeat(43)}`, `state=a&state=b&code=${"c".repeat(2_000)}`, "error=access_denied&state=%00"];

/** Accounts with a second factor. Each case has its own, so that failures don't add up. */
const accounts = new Map<string, { user: Actor; secret: string }>();

const enrolled = (name: string) => async (cast: Cast) => {
  const user = await cast.context.actor({ tier: "free" });
  const secret = pick<string>(answers(await user.session.post("/api/auth/second-factor", { password: user.password }), 201), "secret");
  answers(await user.session.post("/api/auth/second-factor/confirm", { code: codeOf(secret) }), 200);
  accounts.set(name, { user, secret });
};

/** A sign-in with the right password; undefined if the address must wait. */
const begin = async ({ context }: Cast, { email, password }: Actor): Promise<string | undefined> => {
  const answer = await context.anonymous.post("/api/auth/login", { email, password });
  return answer.status === 429 ? undefined : pick(answers(answer, 202), "pending");
};

/**
 * Sends a code from another address of this computer.
 * @returns the status
 */
const completeElsewhere = (baseUrl: string, body: object): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const outgoing = request(`${baseUrl}${CODE_PATH}`, { method: "POST", headers, localAddress: ELSEWHERE }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    outgoing.on("error", reject).end(JSON.stringify(body));
  });

export const signInCases: AbuseCase[] = [
  {
    id: "sign-in-codes",
    title: "a dozen guessed codes behind the right password",
    requests: GUESSES + 1,
    prepare: enrolled("codes"),
    attack: async (cast) => {
      const { user, secret } = accounts.get("codes")!;
      const pending = await begin(cast, user);
      if (pending === undefined) return;
      for (let guess = 0; guess < GUESSES; guess += 1) {
        const answer = await cast.context.anonymous.post(CODE_PATH, { pending, code: wrongCode(secret) });
        if (answer.status !== 429) refuses(answer, 401, "UNAUTHENTICATED");
      }
    },
  },
  {
    id: "sign-in-twice",
    title: "a pending sign-in and its code, seen on the way and sent again by several at once",
    requests: AT_ONCE + 1,
    prepare: enrolled("twice"),
    attack: async (cast) => {
      const { user, secret } = accounts.get("twice")!;
      const pending = await begin(cast, user);
      if (pending === undefined) return;
      const code = codeOf(secret, 1);
      const send = () => cast.context.anonymous.post(CODE_PATH, { pending, code });
      const statuses = (await Promise.all(Array.from({ length: AT_ONCE }, send))).map(({ status }) => status);
      assert.ok(statuses.filter((status) => status === 200).length <= 1, `signed in more than once: ${statuses.join(", ")}`);
      assert.ok(
        statuses.every((status) => [200, 401, 429].includes(status)),
        statuses.join(", "),
      );
    },
  },
  {
    id: "sign-in-elsewhere",
    title: "a pending sign-in and its code, used from another address",
    requests: 2,
    prepare: enrolled("elsewhere"),
    attack: async (cast) => {
      const { user, secret } = accounts.get("elsewhere")!;
      const pending = await begin(cast, user);
      if (pending === undefined) return;
      const status = await completeElsewhere(cast.context.baseUrl, { pending, code: codeOf(secret, 1) });
      assert.ok(status === 401 || status === 429, `answered ${status}`);
    },
  },
  {
    id: "sign-in-provider",
    title: "answers of a provider that nobody was sent to",
    requests: FORGED.length,
    attack: async ({ context }) => {
      for (const query of FORGED) {
        const headers = { cookie: `nodeloom_oidc=${"x".repeat(43)}` };
        const url = `${context.baseUrl}/api/auth/oidc/callback?${query}`;
        const { status, headers: answered } = await fetch(url, { redirect: "manual", headers });
        if (status === 429) continue;
        assert.ok(status === 501 || (status === 303 && answered.get("location")?.includes("#sign-in-failed=")), `answered ${status}`);
        assert.ok(!answered.getSetCookie().some((cookie) => cookie.includes("nodeloom_session")), "began a session");
      }
    },
  },
];
