import { DomainError } from "@nodeloom/kernel";
import type { identity } from "@nodeloom/proto";
import { createOwners } from "../src/owners";

const CREATED = new Date("2026-01-01");
const GRANTED = new Date("2026-02-01");
const ENDED = new DomainError("unauthenticated", "UNAUTHENTICATED", "the access of who set this up has ended");

it.each([
  [
    { personId: "person", createdAt: CREATED },
    { personId: "person", at: CREATED },
  ],
  [
    { personId: "person", createdAt: CREATED, grantedAt: GRANTED },
    { personId: "person", at: GRANTED },
  ],
  [{ createdAt: CREATED }, { personId: "owner", at: CREATED }],
])("runs a hook or schedule of a session only while the access of who set it stands: %j", async (set, grant) => {
  const asked: unknown[] = [];
  const getUser = (request: unknown): Promise<identity.GetUserResponse> => {
    asked.push(request);
    return Promise.reject(ENDED);
  };
  const owners = createOwners({ identity: { getUser, resolveKey: () => Promise.reject(new Error("no key is asked for")) } as never });
  await expect(owners.runner({ userId: "owner", keyId: null, ...set }, "poster")).rejects.toBe(ENDED);
  expect(asked).toEqual([{ userId: "owner", grant }]);
});
