import { DomainError, unavailable } from "@nodeloom/kernel";
import { executions, identity } from "@nodeloom/proto";
import { createCurrentRunner, isStopped } from "../../src/batches/current-runner";
import type { BatchRecord } from "../../src/run/batch";

const PLAN = { base: "pro", markupPermille: 1_500, concurrency: 10 };
const user = identity.User.fromPartial({ id: "u", role: "user", tier: "pro", approved: true, plan: PLAN });
const batch = (keyId: string): BatchRecord =>
  ({
    _id: `batch of ${keyId}`,
    userId: "u",
    target: { $case: "workflowSlug", value: "flow" },
    runner: executions.Runner.fromPartial({ userId: "u", keyId, tier: "free" }),
  }) as unknown as BatchRecord;

/** Identity with one user and the given responses about keys. */
const lookUp = (resolveKey: () => Promise<identity.ResolveKeyResponse>) =>
  createCurrentRunner({ identity: { getUser: () => Promise.resolve(identity.GetUserResponse.fromPartial({ user })), resolveKey } });
const withCapabilities = (effectiveCapabilities: string[]) => () =>
  Promise.resolve(identity.ResolveKeyResponse.fromPartial({ user, effectiveCapabilities }));
const failing = (error: unknown) => () => Promise.reject(error as Error);

it("stops a batch whose key is revoked, or can't run its target any more, and no other", async () => {
  const revoked = lookUp(failing(new DomainError("unauthenticated", "UNAUTHENTICATED", "no")));
  expect(await revoked(batch("key"))).toEqual({
    stopped: { code: "UNAUTHENTICATED", message: "the key of the batch was revoked or has expired" },
  });
  expect(isStopped(await revoked(batch("")))).toBe(false);
  const downgraded = lookUp(failing(new DomainError("forbidden", "API_KEY_ACCESS_DENIED", "keys come with Pro")));
  expect(await downgraded(batch("key"))).toEqual({ stopped: { code: "API_KEY_ACCESS_DENIED", message: "keys come with Pro" } });
  expect(await lookUp(withCapabilities(["workflow:other:run"]))(batch("key"))).toMatchObject({ stopped: { code: "CAPABILITY_DENIED" } });
  expect(await lookUp(withCapabilities(["workflow:run"]))(batch("key"))).toMatchObject({ tier: "pro", concurrency: 10, keyId: "key" });
});

it("stops a batch of a session after the access of the person who created it, or resumed it last, has ended", async () => {
  const grants: unknown[] = [];
  const endedAccess = createCurrentRunner({
    identity: {
      getUser: ({ grant }) => {
        grants.push(grant);
        return Promise.reject(new DomainError("unauthenticated", "UNAUTHENTICATED", "the access has ended"));
      },
      resolveKey: failing(new Error("no key is asked for")),
    },
  });
  const [createdAt, grantedAt] = [new Date(1), new Date(2)];
  const record = { ...batch(""), createdAt };
  expect(await endedAccess(record)).toEqual({ stopped: { code: "UNAUTHENTICATED", message: "the access has ended" } });
  await endedAccess({ ...record, runner: { ...record.runner, personId: "editor" }, grantedAt });
  expect(grants).toEqual([
    { personId: "u", at: createdAt },
    { personId: "editor", at: grantedAt },
  ]);
});

it("looks up the key of the caller who resumed a batch last", async () => {
  const answers = [["workflow:run"], ["workflow:other:run"]];
  const currentRunner = lookUp(() => withCapabilities(answers.shift()!)());
  expect(isStopped(await currentRunner(batch("key")))).toBe(false);
  expect(await currentRunner({ ...batch("other key"), _id: batch("key")._id })).toMatchObject({ stopped: { code: "CAPABILITY_DENIED" } });
});

it("continues unchanged while identity is unavailable", async () => {
  expect(await lookUp(failing(unavailable("away", 1)))(batch("key"))).toMatchObject({ keyId: "key", tier: "free" });
});
