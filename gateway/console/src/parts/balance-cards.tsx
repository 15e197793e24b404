import type { Me } from "@nodeloom/client";
import { credits, titled } from "../ui/format";
import { Time } from "../ui/time";
import { COMMON } from "../messages/common";
import { BALANCE_CARDS } from "../messages/parts";

type Line = readonly [title: string, amount: string, hint: React.ReactNode];

const linesOf = ({ credits: { plan, topUp, held, renewsAt }, user }: Me): readonly Line[] => [
  [
    BALANCE_CARDS.planCredits,
    credits(plan),
    renewsAt === null ? (
      BALANCE_CARDS.plan(titled(user.tier))
    ) : (
      <>
        {BALANCE_CARDS.renews} <Time iso={renewsAt} />
      </>
    ),
  ],
  [BALANCE_CARDS.topUpCredits, credits(topUp), topUp < 0 ? BALANCE_CARDS.debtHint : BALANCE_CARDS.topUpHint],
  [BALANCE_CARDS.heldByRuns, credits(held), BALANCE_CARDS.heldHint],
];

/** Balances and trial runs of the account. */
export const BalanceCards = ({ me }: { me: Me }) => (
  <div className="mb-5 grid gap-4 sm:grid-cols-3">
    {linesOf(me).map(([title, amount, hint]) => (
      <div key={title} className="rounded-2xl border bg-surface p-4">
        <div className="text-xs font-medium text-muted">{title}</div>
        <div className="mt-1 text-xl font-semibold tabular-nums">{amount}</div>
        <div className="mt-0.5 text-xs text-faint">{hint}</div>
      </div>
    ))}
    {me.credits.grants.length > 0 && (
      <div className="rounded-2xl border bg-surface p-4 sm:col-span-3">
        <div className="text-xs font-medium text-muted">{COMMON.trialRuns}</div>
        <ul className="mt-2 flex flex-wrap gap-x-6 gap-y-1 text-sm">
          {me.credits.grants.map(({ model, remaining, total }) => (
            <li key={model}>
              {model}: <strong className="tabular-nums">{remaining}</strong> {BALANCE_CARDS.ofLeft(total)}
            </li>
          ))}
        </ul>
      </div>
    )}
  </div>
);
