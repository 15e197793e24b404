import { createOwnServers, createSlots, type OwnServers } from "@nodeloom/platform";
import { createHook, QUESTIONS, type Hook, type Question } from "../../src/moderation/hook";
import { ALLOW, SECRET, startModerationHook, type ModerationHook } from "../support/moderation-hook";

const question: Question = {
  ...{ id: "mod_1", kind: "input", accountId: "u", executionId: "e", workflow: null, node: null, model: "m" },
  ...{ texts: ["a loom"], files: [] },
};

let peer: ModerationHook;
let servers: OwnServers;
beforeAll(async () => {
  peer = await startModerationHook();
  servers = createOwnServers();
});
afterAll(async () => {
  await servers.close();
  await peer.stop();
});
beforeEach(() => peer.reset());

const hookOf = (timeoutMs = 5_000, url = peer.url, secrets = [SECRET]): Hook =>
  createHook({ url, secrets, timeoutMs, egress: servers.clientOf(url), slots: createSlots(QUESTIONS) });

it("sends a signed request with its subject", async () => {
  expect(await hookOf()(question)).toEqual(ALLOW);
  expect(peer.questions).toEqual([question]);
});

it("signs with both secrets while one replaces another", async () => {
  const next = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
  expect(await hookOf(5_000, peer.url, [next, SECRET])(question)).toEqual(ALLOW);
});

it("returns the hook's code, message and policy", async () => {
  peer.decide = () => ({ decision: "refuse", reason: "violence", message: "Blood is not shown here.", policy: "7" });
  expect(await hookOf()(question)).toEqual({ decision: "refuse", reason: "violence", message: "Blood is not shown here.", policy: "7" });
});

it.each([
  ["an error", { status: 500 }],
  ["no JSON", { bytes: Buffer.from("<html>") }],
  ["no decision", { json: { decision: "maybe" } }],
  ["a code that is none", { json: { decision: "refuse", reason: "a whole sentence" } }],
])("retries under the same id after %s", async (_, reply) => {
  let questionCount = 0;
  peer.respond = () => ((questionCount += 1) === 1 ? reply : { json: ALLOW });
  expect(await hookOf()(question)).toEqual(ALLOW);
  expect(peer.questions.map(({ id }) => id)).toEqual(["mod_1", "mod_1"]);
});

it("treats a hook that doesn't decide before the deadline as unavailable, and pauses it", async () => {
  peer.respond = () => ({ status: 503 });
  const hook = hookOf(250);
  await expect(hook(question)).rejects.toThrow("the moderation hook answered 503");
  const { length } = peer.questions;
  expect(length).toBeGreaterThan(1);
  await expect(hook(question)).rejects.toThrow("away a moment ago");
  expect(peer.questions).toHaveLength(length);
});

it("doesn't retry if the hook rejects the request itself", async () => {
  peer.respond = () => ({ status: 401 });
  await expect(hookOf()(question)).rejects.toThrow("answered 401");
  expect(peer.questions).toHaveLength(1);
});

it("follows no redirect", async () => {
  peer.respond = () => ({ status: 307, headers: { location: peer.url } });
  await expect(hookOf()(question)).rejects.toThrow("the moderation hook");
  expect(peer.questions).toHaveLength(1);
});
