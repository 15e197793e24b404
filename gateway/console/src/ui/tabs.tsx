import { useId, type KeyboardEvent, type ReactNode } from "react";
import { classes } from "./classes";
import { useChosenInView } from "./use-chosen-in-view";

export interface TabsProps<Name extends string> {
  label: string;
  tabs: readonly { name: Name; title: string; aside?: ReactNode }[];
  chosen: Name;
  onChoose: (name: Name) => void;
  children: ReactNode;
  className?: string;
}

/** Tabs of one panel; arrow keys move between them. */
export const Tabs = <Name extends string>({ label, tabs, chosen, onChoose, children, className }: TabsProps<Name>) => {
  const id = useId();
  const row = useChosenInView<HTMLDivElement>(chosen);
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ name }) => name === chosen);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (!next) return;
    onChoose(next.name);
    document.getElementById(`${id}-${next.name}`)?.focus();
  };
  return (
    <div className={classes("flex min-h-0 min-w-0 flex-col", className)}>
      <div ref={row} role="tablist" aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto border-b px-2" onKeyDown={step}>
        {tabs.map(({ name, title, aside }) => (
          <button
            key={name}
            id={`${id}-${name}`}
            type="button"
            role="tab"
            aria-selected={name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
            className={classes(
              "-mb-px flex shrink-0 items-center gap-1.5 border-b-2 px-2.5 py-2 text-[13px] font-medium whitespace-nowrap",
              name === chosen ? "border-accent text-text" : "border-transparent text-muted hover:text-text",
            )}
          >
            {title}
            {aside}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`} className="min-h-0 flex-1">
        {children}
      </div>
    </div>
  );
};
