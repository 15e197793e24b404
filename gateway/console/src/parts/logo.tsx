import { LOGO } from "../messages/parts";
export const Logo = ({ compact }: { compact?: boolean }) => (
  <span className="flex items-center gap-2.5">
    <svg viewBox="0 0 32 32" className="size-7 shrink-0" aria-hidden>
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path d="M9 10.5c5 0 5 11 14 11M9 21.5c5 0 5-11 14-11" fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round" />
      {[9, 23].flatMap((x) => [10.5, 21.5].map((y) => <circle key={`${x} ${y}`} cx={x} cy={y} r="2.6" fill="#fff" />))}
    </svg>
    {!compact && <span className="text-[15px] font-semibold tracking-tight">{LOGO.nodeloom}</span>}
  </span>
);
