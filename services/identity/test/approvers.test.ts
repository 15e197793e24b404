import { randomUUID } from "node:crypto";
import type { Role } from "@nodeloom/kernel";
import { createListApprovers } from "../src/addresses/approvers";
import type { OrganizationRecord } from "../src/organizations/records";
import type { UserRecord } from "../src/records";
import { newUser } from "../src/users/user";

const people = new Map<string, UserRecord>();
const person = (name: string, part: Partial<UserRecord> = {}): UserRecord => {
  const base = {
    email: `${name}@example.com`,
    passwordHash: "",
    role: "user",
    tier: "pro",
    approved: true,
    createdAt: new Date(),
  } as const;
  const user = newUser({ ...base, _id: randomUUID(), emailVerifiedAt: new Date(), ...part });
  people.set(user._id, user);
  return user;
};
const users = {
  find: async (id: string) => people.get(id) ?? null,
  findByEmail: async (email: string) => [...people.values()].find((user) => user.email === email) ?? null,
};

const [ada, bob, carla] = [person("ada"), person("bob"), person("carla", { emailVerifiedAt: null })];
const [dora, outsider] = [person("dora", { suspended: true }), person("otto")];
const member = ({ _id: personId }: UserRecord, role: Role) => ({ personId, role, since: new Date() });
const loom = {
  _id: randomUUID(),
  name: "Loom Works",
  members: [member(ada, "owner"), member(bob, "editor"), member(carla, "editor"), member(dora, "owner")],
} as unknown as OrganizationRecord;
const list = createListApprovers({ users, organizations: { find: async (id) => (id === loom._id ? loom : null) } });
const of = async (approvers: string[], excludedPersonId = "", accountId = loom._id) =>
  (await list({ accountId, approvers, excludedPersonId })).approvers.map(({ address, personId }) => [address, personId]);

it("mails members by role and id if their address is confirmed, and nobody who is suspended", async () => {
  expect(await of(["editor"])).toEqual([
    [ada.email, ada._id],
    [bob.email, bob._id],
  ]);
  expect(await of([carla._id, dora._id, bob._id, outsider._id])).toEqual([[bob.email, bob._id]]);
});

it("mails named addresses, each once, and knows which belong to members", async () => {
  const legal = "legal@example.com";
  expect(await of([legal, outsider.email, bob.email, "editor", carla.email, dora.email])).toEqual([
    [legal, ""],
    [outsider.email, ""],
    [bob.email, bob._id],
    [ada.email, ada._id],
    // The link proves the address.
    [carla.email, carla._id],
  ]);
});

it("leaves out the person who started the run, also by address", async () => {
  expect(await of(["editor", bob.email], bob._id)).toEqual([[ada.email, ada._id]]);
});

it("mails the person of a personal account, and knows no account that is gone", async () => {
  expect(await of(["owner"], "", ada._id)).toEqual([[ada.email, ada._id]]);
  expect((await list({ accountId: loom._id, approvers: [], excludedPersonId: "" })).accountName).toBe("Loom Works");
  await expect(of(["owner"], "", randomUUID())).rejects.toMatchObject({ reason: "NOT_FOUND" });
});
