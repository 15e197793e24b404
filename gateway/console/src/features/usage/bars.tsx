import { creditNumber } from "../../ui/format";

const MOST_BARS = 14;

export interface BarsProps {
  label: string;
  bars: readonly (readonly [string, number])[];
  /** True to show the first of many bars instead of the last. */
  first?: boolean;
}

/** Bars with figures, accessible as a list. */
export const Bars = ({ label, bars, first = false }: BarsProps) => {
  const shownBars = first ? bars.slice(0, MOST_BARS) : bars.slice(-MOST_BARS);
  const most = Math.max(...shownBars.map(([, amount]) => amount), 0.001);
  return (
    <ul aria-label={label} className="flex flex-col gap-1.5 text-xs">
      {shownBars.map(([name, amount]) => (
        <li key={name} className="grid grid-cols-[minmax(5rem,9rem)_minmax(0,1fr)_4.5rem] items-center gap-2">
          <span className="truncate text-muted" title={name}>
            {name}
          </span>
          <svg viewBox="0 0 100 8" preserveAspectRatio="none" className="h-3 w-full" aria-hidden>
            <rect width={(amount / most) * 100} height="8" rx="1" fill="var(--accent)" />
          </svg>
          <span className="text-right tabular-nums">{creditNumber(amount)}</span>
        </li>
      ))}
    </ul>
  );
};
