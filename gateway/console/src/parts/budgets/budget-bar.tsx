import type { Budget } from "@nodeloom/client";
import { classes } from "../../ui/classes";
import { creditNumber } from "../../ui/format";
import { isDefault, scopeOf, windowWords } from "./budgets";
import { BUDGET_BAR } from "../../messages/parts";

const NEARLY = 0.8;

/** Used share of a budget, as a bar and in figures. */
export const BudgetBar = ({ budget, className }: { budget: Budget; className?: string }) => {
  const { credits, used, window } = budget;
  if (isDefault(scopeOf(budget))) return <span className={className}>{BUDGET_BAR.each(creditNumber(credits), windowWords(window))}</span>;
  const share = credits > 0 ? Math.min(1, used / credits) : 1;
  const color = share >= 1 ? "var(--bad)" : share >= NEARLY ? "var(--warn)" : "var(--accent)";
  const words = BUDGET_BAR.ofCredits(creditNumber(used), creditNumber(credits), windowWords(window));
  return (
    <span className={classes("flex min-w-0 flex-col gap-1", className)}>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" className="h-1.5 w-full rounded-full" aria-hidden>
        <rect width="100" height="4" fill="var(--line)" />
        <rect width={share * 100} height="4" fill={color} />
      </svg>
      <span className="truncate text-xs text-muted tabular-nums">{words}</span>
    </span>
  );
};
