import { useState, type ReactNode } from "react";
import { classes } from "../ui/classes";
import { Input } from "../ui/inputs/field";
import { Dialog } from "../ui/overlays/dialog";

export interface Pick {
  key: string;
  title: string;
  aside?: ReactNode;
  note?: string;
  /** Search terms. */
  words?: string;
  /** True to show the entry only after the user types. */
  isSought?: boolean;
  /** True to list it after all others. */
  isLast?: boolean;
  run: () => void;
}

const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Matches whose title begins with the query come first, then those with a word of the title that does, then other matches. */
const rankOf = ({ title, isLast }: Pick, query: string): number => {
  if (isLast === true) return 3;
  const lowerTitle = title.toLowerCase();
  if (lowerTitle.startsWith(query)) return 0;
  return lowerTitle.includes(` ${query}`) ? 1 : 2;
};

const matching = (picks: readonly Pick[], query: string): readonly Pick[] => {
  const words = wordsOf(query);
  if (words.length === 0) return picks.filter(({ isSought }) => isSought !== true);
  const typed = words.join(" ");
  return picks
    .filter((pick) => words.every((word) => `${pick.title} ${pick.note ?? ""} ${pick.words ?? ""}`.toLowerCase().includes(word)))
    .toSorted((a, b) => rankOf(a, typed) - rankOf(b, typed));
};

/** A searchable list for the keyboard. */
export const Picker = ({
  title,
  placeholder,
  picks,
  empty,
  onQuery,
  onClose,
}: {
  title: string;
  placeholder: string;
  picks: readonly Pick[];
  empty: string;
  onQuery?: (query: string) => void;
  onClose: () => void;
}) => {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const matches = matching(picks, query);
  const choose = (pick: Pick | undefined): void => {
    if (!pick) return;
    onClose();
    pick.run();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Input
        autoFocus
        role="combobox"
        aria-expanded
        aria-controls="picks"
        aria-activedescendant={matches[at] && `pick-${at}`}
        aria-label={placeholder}
        placeholder={placeholder}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
          onQuery?.(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") choose(matches[at]);
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (by === undefined || matches.length === 0) return;
          event.preventDefault();
          const next = (at + by + matches.length) % matches.length;
          setAt(next);
          document.getElementById(`pick-${next}`)?.scrollIntoView({ block: "nearest" });
        }}
      />
      <ul id="picks" role="listbox" aria-label={title} className="mt-2 max-h-80 overflow-y-auto">
        {matches.map((pick, index) => (
          <li
            key={pick.key}
            id={`pick-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(pick)}
            onPointerMove={() => setAt(index)}
            className={classes(
              "flex cursor-pointer items-center gap-3 rounded-lg px-2.5 py-1.5 text-sm max-md:py-3",
              index === at && "bg-hover",
            )}
          >
            <span className="min-w-0 flex-1">
              <span className="block truncate">{pick.title}</span>
              {pick.note !== undefined && <span className="block truncate text-xs text-faint">{pick.note}</span>}
            </span>
            {pick.aside}
          </li>
        ))}
      </ul>
      {matches.length === 0 && <p className="px-2 py-4 text-sm text-muted">{empty}</p>}
    </Dialog>
  );
};
