import { emptyAccount, type Account } from "../../src/account/account";
import { apply, type Command, type ReplyTo } from "../../src/account/command";
import type { LedgerRow } from "../../src/account/movement";

const userId = "user-1";
const JANUARY = new Date("2026-01-10T12:00:00Z");
const FEBRUARY = new Date("2026-02-12T12:00:00Z");
const ledger = { get: () => null } as unknown as ReadonlyMap<string, LedgerRow | null>;
const executionId = "e1.1";

const item = (key: string, maxMillicredits: number) => ({ key, model: "painter", maxMillicredits });
const account = (part: Partial<Account>): Account => ({ ...emptyAccount(userId), ...part });
const hold = (items: ReturnType<typeof item>[], maxMillicredits?: number): Command => ({
  type: "hold",
  userId,
  at: JANUARY,
  executionId,
  items,
  maxActive: 0,
  ledger,
  ...(maxMillicredits === undefined ? {} : { maxMillicredits }),
});
const extend = (items: ReturnType<typeof item>[], at = JANUARY): Command => ({ type: "extend", userId, at, executionId, items, ledger });
const settle = (captured: Record<string, number>, at = JANUARY): Command => ({
  type: "settle",
  userId,
  at,
  executionId,
  items: Object.entries(captured).map(([key, captureMillicredits]) => ({ key, captureMillicredits, consumeGrant: true })),
  captureAll: false,
  ledger,
});
const accept = <C extends Command>(start: Account, command: C): { account: Account; reply: ReplyTo<C> } => {
  const { account: next, outcome } = apply(start, command);
  if (outcome.kind !== "done") throw outcome.kind === "refused" ? outcome.error : new Error("undecided");
  return { account: next, reply: outcome.reply };
};
const run = (start: Account, ...commands: Command[]): Account =>
  commands.reduce((current, command) => accept(current, command).account, start);

it("holds each call of an extension once, however often it is requested", () => {
  const heldAccount = run(account({ plan: 1_000 }), hold([item("a:0", 100)]));
  const first = accept(heldAccount, extend([item("a:0", 100), item("a:1", 100), item("a:2", 100)]));
  expect(first.account).toMatchObject({ plan: 700, held: 300 });
  expect(first.reply).toMatchObject({ items: [{ key: "a:0" }, { key: "a:1" }, { key: "a:2" }] });
  const again = apply(first.account, extend([item("a:0", 100), item("a:1", 100), item("a:2", 100)]));
  expect(again.account).toBe(first.account);
});

it("applies the run's limit and the balance to its extensions", () => {
  const limited = run(account({ plan: 1_000 }), hold([item("a:0", 100)], 150));
  expect(() => accept(limited, extend([item("a:1", 100)]))).toThrow(expect.objectContaining({ reason: "INSUFFICIENT_CREDITS" }));
  const poor = run(account({ plan: 150 }), hold([item("a:0", 100)]));
  expect(() => accept(poor, extend([item("a:1", 100)]))).toThrow(expect.objectContaining({ reason: "INSUFFICIENT_CREDITS" }));
});

it("rejects an extension of a closed run, or of one voided before it was held", () => {
  const over = run(account({ plan: 1_000 }), hold([item("a:0", 100)]), settle({}));
  expect(() => accept(over, extend([item("a:1", 100)]))).toThrow(expect.objectContaining({ reason: "PRECONDITION_FAILED" }));
  const voided = run(account({ plan: 1_000 }), settle({}));
  expect(() => accept(voided, extend([item("a:1", 100)]))).toThrow(expect.objectContaining({ reason: "PRECONDITION_FAILED" }));
});

it("starts the hold of a run that was free until now", () => {
  const { account: heldAccount, reply } = accept(account({ plan: 1_000 }), extend([item("a:0", 100)]));
  expect(heldAccount).toMatchObject({ plan: 900, held: 100 });
  expect(reply).toMatchObject({ heldMillicredits: 100 });
});

it("releases an extension's hold in the current month, even if the run's own month has ended", () => {
  const renewsAt = new Date("2026-02-10T00:00:00Z");
  const start = account({ plan: 500, monthlyMillicredits: 500, tier: "pro", renewsAt, renewalDay: 10 });
  const heldAccount = run(start, hold([item("a:0", 100)]), extend([item("a:1", 100)], FEBRUARY));
  expect(heldAccount).toMatchObject({ plan: 400, held: 200 });
  // January's 100 held credits have expired; February's 100 are returned.
  expect(run(heldAccount, settle({}, FEBRUARY))).toMatchObject({ plan: 500, held: 0 });
  // Captures use the oldest credits.
  expect(run(heldAccount, settle({ "a:1": 100 }, FEBRUARY))).toMatchObject({ plan: 500, held: 0 });
});
