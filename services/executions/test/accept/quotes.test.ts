import { randomUUID } from "node:crypto";
import { holdItems, type PlanStep } from "@nodeloom/kernel";
import { billing as billingProto, executions } from "@nodeloom/proto";
import type { Planning } from "../../src/plan/planning";
import { createQuotes } from "../../src/accept/quotes";
import { noReruns } from "../support/no-reruns";
import { runOf, startMoney, type Money } from "../support/money";

const NODES = [
  { id: "pics", model: "painter", calls: 3, maxMillicredits: 3_000 },
  { id: "song", model: "singer", calls: 1, maxMillicredits: 2_000 },
];

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

const quote = (userId: string, more: Readonly<Record<string, Partial<PlanStep>>> = {}): Promise<executions.QuoteResponse> => {
  const run = runOf(userId, NODES);
  const plan = { ...run.plan, steps: run.plan.steps.map((step) => ({ ...step, ...more[step.id] })) };
  const planned = { plan, holds: holdItems(plan), workflowSlug: null, modelIds: [], inputsJson: "{}" };
  const planning: Planning = { plan: () => Promise.resolve(planned) };
  const runner = executions.Runner.fromPartial({ userId });
  return createQuotes({ planning, reruns: noReruns, billing: money.billing }).quote(
    executions.QuoteRequest.fromPartial({ runner, inputsJson: "{}" }),
  );
};
const credit = (userId: string, part: Partial<billingProto.CreditRequest>) =>
  money.billing.credit(billingProto.CreditRequest.fromPartial({ userId, reference: randomUUID(), ...part }));

it("includes longer lists and repeated answers in the maximum cost of a run", async () => {
  const userId = randomUUID();
  await credit(userId, { kind: billingProto.CreditKind.CREDIT_KIND_TOPUP, millicredits: 100_000 });
  const answer = { schema: {}, maxRepairMillicredits: 700 };
  const quoted = await quote(userId, { pics: { itemLimit: 5, answer }, song: { answer } });
  expect(quoted).toMatchObject({ millicredits: 11_000, maxMillicredits: 11_000 + 2 * 3_000 + 5 * 700 + 1 * 700 });
});

it("quotes a run's hold after trial grants, and their rest; the number suffices as a limit", async () => {
  const userId = randomUUID();
  await credit(userId, { kind: billingProto.CreditKind.CREDIT_KIND_TOPUP, millicredits: 10_000 });
  await credit(userId, { kind: billingProto.CreditKind.CREDIT_KIND_GRANT, model: "painter", runs: 2 });
  await credit(userId, { kind: billingProto.CreditKind.CREDIT_KIND_GRANT, model: "dancer", runs: 9 });
  const quoted = await quote(userId);
  expect(quoted).toEqual({
    millicredits: 5_000,
    maxMillicredits: 5_000,
    mayCostLess: false,
    nodes: [
      expect.objectContaining({ id: "pics", items: 3, millicredits: 3_000, grant: true }),
      expect.objectContaining({ id: "song", items: 1, millicredits: 2_000, grant: false }),
    ],
    warnings: [],
    grants: [{ model: "painter", total: 2, remaining: 0 }],
  });
  // The quotes changed nothing.
  expect(await quote(userId)).toEqual(quoted);
  const tooLittle = runOf(userId, NODES, { maxMillicredits: quoted.millicredits - 1 });
  await expect(money.begin(tooLittle)).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDITS" });
  expect(await money.begin(runOf(userId, NODES, { maxMillicredits: quoted.millicredits }))).toHaveProperty("held");
  expect((await money.billing.getAccount({ userId })).account).toMatchObject({ heldMillicredits: quoted.millicredits });
});

it("prices a node at the most expensive of its models, and isn't exact if another one can cost less", async () => {
  const userId = randomUUID();
  await credit(userId, { kind: billingProto.CreditKind.CREDIT_KIND_TOPUP, millicredits: 100_000 });
  const alternative = (model: string, maxMillicredits: number) => ({
    ...{ model, maxMillicredits, literals: {}, listPorts: [], textPorts: [], inputNames: [] },
  });
  const quoted = await quote(userId, { pics: { fallback: [alternative("dancer", 5_000), alternative("poet", 100)] } });
  expect(quoted).toMatchObject({ millicredits: 3 * 5_000 + 2_000, maxMillicredits: 17_000, mayCostLess: true });
  expect(await quote(userId, { pics: { fallback: [alternative("dancer", 3_000)] } })).toMatchObject({ mayCostLess: false });
});
