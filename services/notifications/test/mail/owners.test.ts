import { DomainError } from "@nodeloom/kernel";
import { createOwnersMails } from "../../src/mail/owners";
import type { Mail } from "../../src/mail/mails";

const LOW = { kind: "lowCredits", remaining: 1, monthly: 20 } as const;
const KEPT = { kind: "organizationKept", personName: "ada@example.com", erasesAt: "2026-06-01T00:00:00.000Z" } as const;

const mailsTo = (listOwners: () => Promise<{ userIds: string[]; organizationName: string }>) => {
  const added: [Mail, string | undefined][] = [];
  const queue = { add: (mail: Mail, about?: string) => Promise.resolve(void added.push([mail, about])) };
  return { added, ...createOwnersMails({ queue, addresses: { listOwners } as never }) };
};

it("emails the person of an account, and each owner of an organization, which it names", async () => {
  const own = mailsTo(() => Promise.resolve({ userIds: ["u1"], organizationName: "" }));
  await own.addForOwners("u1", LOW, "a1");
  expect(own.added).toEqual([[{ ...LOW, userId: "u1", organization: undefined }, "a1"]]);

  const shared = mailsTo(() => Promise.resolve({ userIds: ["u1", "u2"], organizationName: "Loom Works" }));
  await shared.addForOwners("o1", KEPT, "o1:1");
  const organization = { id: "o1", name: "Loom Works" };
  expect(shared.added).toEqual(["u1", "u2"].map((userId) => [{ ...KEPT, userId, organization }, "o1:1"]));
});

it("sends nothing for a deleted account, and reports that identity is unavailable", async () => {
  const withoutOwner = mailsTo(() => Promise.reject(new DomainError("not_found", "NOT_FOUND", "no such user")));
  await withoutOwner.addForOwners("o1", KEPT, "o1:1");
  expect(withoutOwner.added).toEqual([]);
  const away = mailsTo(() => Promise.reject(new DomainError("unavailable", "SERVICE_UNAVAILABLE", "away")));
  await expect(away.addForOwners("o1", KEPT, "o1:1")).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
});
