import { createHash, randomUUID } from "node:crypto";
import type { Connection } from "mongoose";
import { DomainError } from "@nodeloom/kernel";
import { valueTypeOf } from "@nodeloom/kernel/graph";
import { createLogger } from "@nodeloom/platform";
import { addresses as addressesProto, type executions } from "@nodeloom/proto";
import { createDecisionLinks, createMailApprovers } from "../../src/reads/decision-links";
import { createApprovals } from "../../src/lifecycle/approvals";
import { createExecution } from "../../src/lifecycle/execution";
import type { Stores } from "../../src/record/stores";
import type { Approval } from "../../src/run/approvals";
import type { ExecutionRecord, ExecutionView } from "../../src/run/record";
import { newRecord, openStore } from "../support";

const HOUR = 3_600_000;
const LEGAL = { address: "legal@example.com", personId: "" };
const ADA = { address: "ada@example.com", personId: "ada" };

let stores: Stores;
let connection: Connection;
let stop: () => Promise<void>;
beforeAll(async () => void ({ stores, connection, stop } = await openStore()));
afterAll(() => stop());

const approvals = () =>
  createApprovals({
    stores,
    execution: createExecution({ stores, channel: { publish: () => undefined } }),
    queue: {} as never,
    outbox: { deliverLater: () => Promise.resolve(true) },
  });

/** A run of a published workflow that waits at `ok`. */
const waitingRun = async (part: Partial<ExecutionRecord> = {}, approval: Partial<Approval> = {}): Promise<ExecutionView> => {
  const record = newRecord(randomUUID(), { workflowSlug: "campaign", mailsApprovers: true, ...part });
  await stores.rows.insert(record);
  const row = await approvals().begin(record._id, 1, {
    ...{ nodeId: "ok", title: "Good?", instructions: "Look twice.", since: new Date(), until: new Date(Date.now() + HOUR) },
    ...{ onTimeout: "reject", value: { json: '"a boat"' }, approvers: ["owner", LEGAL.address] },
    type: valueTypeOf("a boat"),
    ...approval,
  });
  return row!;
};

const linksFor = (
  members: { approvers: readonly { address: string; personId: string }[] } = { approvers: [ADA, LEGAL] },
  now = Date.now,
) => {
  const requests: addressesProto.ListApproversRequest[] = [];
  const addresses = {
    listApprovers: async (request: addressesProto.ListApproversRequest) => {
      requests.push(request);
      return addressesProto.ListApproversResponse.fromPartial({ approvers: [...members.approvers], accountName: "Loom Works" });
    },
  };
  return { requests, addresses, links: createDecisionLinks({ stores, approvals: approvals(), addresses: addresses as never, now }) };
};
const requestOf = ({ _id, userId }: ExecutionView, approver = LEGAL) => ({ executionId: _id, ownerId: userId, nodeId: "ok", ...approver });
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "nothing",
    (error: { reason: string }) => error.reason,
  );

it("lets an approver without an account look at the value and decide once, with a comment, and stores only the token's hash", async () => {
  const { links } = linksFor();
  const run = await waitingRun();
  const { token, title, accountName } = (await links.create(requestOf(run)))!;
  expect([title, accountName]).toEqual(["Good?", "Loom Works"]);
  const stored = await connection.collection("decisionlinks").find({ executionId: run._id }).toArray();
  expect(stored).toMatchObject([{ _id: createHash("sha256").update(token).digest("hex"), address: LEGAL.address }]);
  expect(JSON.stringify(stored)).not.toContain(token);
  const link = await links.get(token);
  expect(link).toMatchObject({ executionId: run._id, ownerId: run.userId, state: "waiting", address: LEGAL.address });
  expect(link.waiting).toMatchObject({ instructions: "Look twice.", valueJson: '"a boat"' });
  const decided = await links.decide({ token, isApproved: true, comment: "Go." });
  expect(decided).toMatchObject({ isApproved: true, address: LEGAL.address, comment: "Go." });
  expect(await stores.rows.find(run._id)).toMatchObject({ decisions: [{ by: "owner", address: LEGAL.address, comment: "Go." }] });
  expect(await links.get(token)).toMatchObject({ state: "decided", waiting: undefined, decision: { isApproved: true } });
  expect(await refusal(links.decide({ token, isApproved: false, comment: "" }))).toBe("NOT_WAITING");
});

it("ends all links of an approval with its first decision, of fifty concurrent ones", async () => {
  const { links } = linksFor();
  const run = await waitingRun();
  const tokens = await Promise.all([LEGAL, ADA].map(async (approver) => (await links.create(requestOf(run, approver)))!.token));
  const attempts = Array.from({ length: 50 }, (_, index) => links.decide({ token: tokens[index % 2]!, isApproved: true, comment: "" }));
  const results = await Promise.allSettled(attempts);
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const token of tokens) expect((await links.get(token)).state).toBe("decided");
});

it("ends when the time is over, when the run ends, and when the approver leaves the organization", async () => {
  const run = await waitingRun();
  const members = { approvers: [ADA, LEGAL] };
  const { links } = linksFor(members);
  const { token } = (await links.create(requestOf(run, ADA)))!;
  const late = linksFor(members, () => Date.now() + 2 * HOUR).links;
  expect((await late.get(token)).state).toBe("expired");
  expect(await refusal(late.decide({ token, isApproved: true, comment: "" }))).toBe("NOT_WAITING");
  // Ada is still named by her address, but isn't a member any more.
  members.approvers = [LEGAL, { ...ADA, personId: "" }];
  expect(await refusal(links.get(token))).toBe("NOT_APPROVER");
  expect(await refusal(links.decide({ token, isApproved: true, comment: "" }))).toBe("NOT_APPROVER");
  members.approvers = [LEGAL];
  expect(await refusal(links.get(token))).toBe("NOT_APPROVER");
  members.approvers = [ADA];
  expect((await links.get(token)).state).toBe("waiting");
  await connection.collection("executions").updateOne({ _id: run._id as never }, { $set: { status: "cancelled" } });
  expect((await links.get(token)).state).toBe("over");
  expect(await refusal(links.get("nonsense"))).toBe("NOT_FOUND");
});

it("is created only for approvers of a published graph that still waits", async () => {
  const { links } = linksFor();
  const draft = await waitingRun({ mailsApprovers: undefined as never });
  expect(draft.outbox).toEqual([]);
  expect(await links.create(requestOf(draft))).toBeUndefined();
  const run = await waitingRun();
  expect(run.outbox).toEqual(["mail:ok"]);
  expect(await links.create(requestOf(run, { address: "eve@example.com", personId: "" }))).toBeUndefined();
  expect(await links.create({ ...requestOf(run), ownerId: randomUUID() })).toBeUndefined();
  const { token } = (await links.create(requestOf(run)))!;
  await links.decide({ token, isApproved: false, comment: "" });
  expect(await links.create(requestOf(run))).toBeUndefined();
  expect((await waitingRun({}, { approvers: [] })).outbox).toEqual([]);
});

it("is removed with its run", async () => {
  const { links } = linksFor();
  const run = await waitingRun();
  const { token } = (await links.create(requestOf(run)))!;
  await stores.tombstones.removeCalls(run._id);
  expect(await refusal(links.get(token))).toBe("NOT_FOUND");
});

describe("mails to approvers", () => {
  const logger = createLogger("decision-links-test", "silent");
  const mailing = (send: (id: string) => Promise<void>) => {
    const mails: executions.CreateDecisionLinkRequest[] = [];
    const { addresses, requests } = linksFor();
    const notifications = {
      send: async ({ id, message }: { id: string; message: { value: executions.CreateDecisionLinkRequest } }) => {
        await send(id);
        mails.push(message.value);
        return {};
      },
    };
    return { mails, requests, mail: createMailApprovers({ addresses: addresses as never, notifications: notifications as never, logger }) };
  };

  it("are sent to each approver, under one id for each node, without the starter if the node excludes the starter", async () => {
    const ids: string[] = [];
    const { mails, requests, mail } = mailing(async (id) => void ids.push(id));
    const run = await waitingRun({ personId: "bob" }, { notStarter: true });
    await mail(run, "ok");
    expect(mails).toEqual([requestOf(run, ADA), requestOf(run)]);
    expect(requests[0]).toMatchObject({ accountId: run.userId, approvers: ["owner", LEGAL.address], excludedPersonId: "bob" });
    await mail(run, "ok");
    expect(new Set(ids).size).toBe(1);
  });

  it("aren't retried without a mail server, and are retried while notifications is unavailable", async () => {
    const run = await waitingRun();
    const unconfigured = mailing(() => Promise.reject(new DomainError("precondition", "NOT_CONFIGURED", "no mail server")));
    await unconfigured.mail(run, "ok");
    const away = mailing(() => Promise.reject(new DomainError("unavailable", "SERVICE_UNAVAILABLE", "away")));
    await expect(away.mail(run, "ok")).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
  });
});
