import { DomainError } from "@nodeloom/kernel";
import { identity, notifications } from "@nodeloom/proto";
import type { NewDelivery } from "../src/delivery";
import type { OwnersMail } from "../src/mail/owners";
import { createAcceptRetiring } from "../src/retiring-models";
import type { EndpointMessage } from "../src/webhooks/endpoints";

const AT = new Date("2026-12-01T09:00:00.000Z");
const ID = "leaving-2026-12-31-30-ada";
const NOTICE = notifications.ModelRetiring.fromPartial({
  ...{ ownerId: "ada", model: "leaving", retiresOn: "2026-12-31", successor: "newer", workflowCount: 21 },
  workflows: [{ slug: "films", name: "Films" }],
});
const key = (id: string, webhook: Partial<NonNullable<identity.Key["webhook"]>> | undefined): identity.Key =>
  identity.Key.fromPartial({ id, webhook });
const KEYS = [
  key("hears", { url: "https://example.com", events: ["execution.completed", "model.retiring"] }),
  key("hears-others", { url: "https://example.com", events: ["budget.alert"] }),
  key("disabled", { url: "https://example.com", events: ["model.retiring"], disabledAt: AT }),
  key("without", undefined),
];

const accepting = (listKeys: () => Promise<{ keys: identity.Key[] }> = () => Promise.resolve({ keys: KEYS }), hasMail = true) => {
  const deliveries: NewDelivery[] = [];
  const messages: EndpointMessage[] = [];
  const mails: [string, OwnersMail, string][] = [];
  const accept = createAcceptRetiring({
    identity: { listKeys },
    deliveries: { add: (delivery) => Promise.resolve(void deliveries.push(delivery)) },
    endpoints: { add: (message) => Promise.resolve(void messages.push(message)) },
    mails: hasMail ? { addForOwners: (...mail) => Promise.resolve(void mails.push(mail)) } : undefined,
    now: () => AT,
  });
  return { accept, deliveries, messages, mails };
};

it("notifies owners by email and subscribed webhooks, each under an id derived from the notice's", async () => {
  const { accept, deliveries, messages, mails } = accepting();
  await accept(ID, NOTICE);
  expect(messages).toMatchObject([{ _id: `msg_retiring_${ID}`, ownerId: "ada", event: "model.retiring" }]);
  expect(deliveries).toEqual([
    {
      _id: `msg_retiring_${ID}-hears`,
      ...{ ownerId: "ada", keyId: "hears", event: "model.retiring" },
      about: { kind: "body", messageId: `msg_retiring_${ID}`, at: AT, dataJson: expect.any(String) },
    },
  ]);
  const { about } = deliveries[0]!;
  expect(JSON.parse((about as { dataJson: string }).dataJson)).toEqual({
    ...{ model: "leaving", retiresOn: "2026-12-31", successor: "newer", workflowCount: 21 },
    workflows: [{ slug: "films", name: "Films" }],
  });
  const retiring = { model: "leaving", retiresOn: "2026-12-31", successor: "newer", workflows: ["Films"], workflowCount: 21 };
  expect(mails).toEqual([["ada", { kind: "modelRetiring", retiring }, ID]]);
});

it("notifies no deleted account, and only webhooks without a mail server", async () => {
  const withoutUser = accepting(() => Promise.reject(new DomainError("not_found", "NOT_FOUND", "no such user")));
  await withoutUser.accept(ID, NOTICE);
  expect(withoutUser.deliveries).toEqual([]);
  const withoutMail = accepting(undefined, false);
  await withoutMail.accept(ID, NOTICE);
  expect([withoutMail.deliveries.length, withoutMail.mails.length]).toEqual([1, 0]);
});

it.each([
  ["no id", "", NOTICE],
  ["no day", ID, { ...NOTICE, retiresOn: "soon" }],
  ["too many workflows", ID, { ...NOTICE, workflows: Array.from({ length: 21 }, () => ({ slug: "a", name: "A" })) }],
])("rejects a notice with %s", async (_what, id, notice) => {
  const { accept, deliveries, mails } = accepting();
  await expect(accept(id, notice)).rejects.toMatchObject({ reason: "INVALID_REQUEST" });
  expect([deliveries, mails]).toEqual([[], []]);
});
