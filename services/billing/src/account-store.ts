/** Stored form of an account, and the update from one state to the next. */

import { DURABLE } from "@nodeloom/platform";
import { Schema, type UpdateQuery } from "mongoose";
import { emptyAccount, type Account } from "./account/account";
import type { ActiveHold } from "./account/held";

export type AccountDocument = Omit<Account, "userId"> & { _id: string };

// Without casts: pure, typed code builds the nested values and only replaces them. Casting each item again would cost more than the update.
export const accountSchema = new Schema<AccountDocument>(
  {
    _id: { type: String, required: true },
    revision: Number,
    plan: Number,
    topUp: Number,
    paidBack: { type: Number, default: 0 },
    held: Number,
    grants: [Schema.Types.Mixed],
    trials: [String],
    tier: String,
    monthlyMillicredits: Number,
    renewsAt: Date,
    renewalDay: Number,
    userRevision: { type: Number, default: 0 },
    period: Number,
    holds: [Schema.Types.Mixed],
    budgets: [Schema.Types.Mixed],
    lastBudget: Number,
    budgetAlerts: [Schema.Types.Mixed],
    lowCreditsIn: Number,
    hasClosed: Boolean,
    sequence: Number,
    outbox: [Schema.Types.Mixed],
  },
  // Replies are sent only after the movement is durable.
  { collection: "accounts", autoCreate: false, minimize: false, versionKey: false, writeConcern: DURABLE },
);
// Finds accounts with rows that aren't in the ledger yet.
accountSchema.index({ "outbox.at": 1 });
// Finds accounts that are due for renewal, longest overdue first.
accountSchema.index({ renewsAt: 1, _id: 1 });
// Finds accounts with old open holds.
accountSchema.index({ "holds.at": 1 });
// Finds accounts with pending alerts.
accountSchema.index({ "budgetAlerts.at": 1 });

export const toAccount = ({ _id, ...document }: AccountDocument): Account => ({ ...emptyAccount(_id), ...document });

const REPLACED = [
  "plan",
  "topUp",
  "paidBack",
  "held",
  "grants",
  "trials",
  "tier",
  "monthlyMillicredits",
  "renewsAt",
  "renewalDay",
  "userRevision",
  "period",
  "lastBudget",
  "budgetAlerts",
  "lowCreditsIn",
  "sequence",
] as const satisfies readonly (keyof Account)[];

/** Holds that a change adds, and indexes of those that it removes. An extended hold is a removed and an added one. */
const differences = (before: readonly ActiveHold[], after: readonly ActiveHold[]): { added: ActiveHold[]; removed: number[] } => {
  if (after === before) return { added: [], removed: [] };
  const [was, is] = [new Set(before), new Set(after)];
  return { added: after.filter((hold) => !was.has(hold)), removed: before.flatMap((hold, index) => (is.has(hold) ? [] : [index])) };
};

/** True if one update can write the change of holds without replacing the list: an update can't remove from a list and set a place in it. */
export const isOneUpdate = (before: Account, after: Account): boolean => {
  const { added, removed } = differences(before.holds, after.holds);
  return added.length === 0 || added.length >= removed.length;
};

/** Puts added holds in the places of removed ones, so that an update only names changed places. The order of holds has no meaning. */
export const arranged = (before: Account, after: Account): Account => {
  const { added, removed } = differences(before.holds, after.holds);
  if (removed.length === 0 || added.length < removed.length) return after;
  const holds = [...before.holds];
  removed.forEach((place, index) => (holds[place] = added[index]!));
  return { ...after, holds: [...holds, ...added.slice(removed.length)] };
};

/** Returns changes to the list of holds: added, removed, or set places. Changes of another form replace the list. */
const changesOfHolds = ({ revision, holds: before }: Account, { holds: after }: Account) => {
  if (revision === 0) return { set: { holds: after } };
  const { added, removed } = differences(before, after);
  if (removed.length === 0) return added.length === 0 ? {} : { push: { holds: { $each: added } } };
  if (added.length === 0) return { pull: { holds: { executionId: { $in: removed.map((place) => before[place]!.executionId) } } } };
  if (added.length < removed.length || before.some((hold, place) => hold !== after[place] && !removed.includes(place)))
    return { set: { holds: after } };
  return { set: Object.fromEntries(after.flatMap((hold, place) => (hold === before[place] ? [] : [[`holds.${place}`, hold]]))) };
};

/** Returns changes to budgets. Usually only some usage changes; if the list differs, it is replaced. */
const changesOfBudgets = ({ revision, budgets: before }: Account, { budgets: after }: Account): Record<string, unknown> => {
  const areSame = revision > 0 && before.length === after.length && before.every(({ number }, index) => number === after[index]!.number);
  if (!areSame) return { budgets: after };
  return Object.fromEntries(after.flatMap((budget, index) => (budget === before[index] ? [] : [[`budgets.${index}`, budget]])));
};

/** Returns an update of the changed members: growing lists are appended to, other members are replaced. */
export const changes = (before: Account, after: Account): UpdateQuery<AccountDocument> => {
  const replaced = REPLACED.filter((name) => before.revision === 0 || after[name] !== before[name]);
  const outbox = after.outbox.slice(before.outbox.length);
  const { set, push, pull }: { set?: object; push?: object; pull?: object } = changesOfHolds(before, after);
  const pushed = { ...push, ...(outbox.length > 0 ? { outbox: { $each: outbox } } : {}) };
  return {
    $set: {
      revision: before.revision + 1,
      hasClosed: after.hasClosed,
      ...Object.fromEntries(replaced.map((name) => [name, after[name]])),
      ...changesOfBudgets(before, after),
      ...set,
    },
    ...(Object.keys(pushed).length > 0 ? { $push: pushed } : {}),
    ...(pull ? { $pull: pull } : {}),
  };
};
