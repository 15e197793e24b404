import { Menu as Base } from "@base-ui/react/menu";
import type { LucideIcon } from "lucide-react";
import type { ReactElement } from "react";
import { classes } from "../classes";
import { Keys } from "../keys";

export interface MenuEntry {
  label: string;
  icon?: LucideIcon;
  keys?: string | undefined;
  danger?: boolean;
  disabled?: boolean;
  run: () => void;
}

/** Entries; null is a separator. */
export type MenuEntries = readonly (MenuEntry | null)[];

/** A menu that is higher than the room beside its button scrolls. */
export const MENU_PANEL =
  "z-50 max-h-(--available-height) min-w-44 max-w-80 overflow-y-auto rounded-xl border bg-surface p-1 text-sm text-text shadow-high outline-none";
export const MENU_ITEM =
  "flex w-full items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-left outline-none select-none data-highlighted:bg-hover data-disabled:opacity-45";

/** The open menu, beside its button or at a given position. */
export const MenuPopup = ({
  entries,
  align,
  anchor,
}: {
  entries: MenuEntries;
  align: "start" | "end";
  anchor?: { getBoundingClientRect: () => DOMRect } | undefined;
}) => (
  <Base.Portal>
    <Base.Positioner align={align} sideOffset={4} anchor={anchor} className="z-50 outline-none">
      <Base.Popup className={MENU_PANEL}>
        {entries.map((entry, index) =>
          entry === null ? (
            <Base.Separator key={index} className="my-1 border-t" />
          ) : (
            <Base.Item
              key={index}
              disabled={entry.disabled}
              onClick={entry.run}
              className={classes(MENU_ITEM, "cursor-pointer", entry.danger && "text-bad")}
            >
              {entry.icon && <entry.icon className="size-4 shrink-0 opacity-75" aria-hidden />}
              <span className="min-w-0 flex-1 truncate">{entry.label}</span>
              {entry.keys !== undefined && <Keys keys={entry.keys} />}
            </Base.Item>
          ),
        )}
      </Base.Popup>
    </Base.Positioner>
  </Base.Portal>
);

export const Menu = ({ trigger, entries, align = "end" }: { trigger: ReactElement; entries: MenuEntries; align?: "start" | "end" }) => (
  <Base.Root modal={false}>
    <Base.Trigger render={trigger} />
    <MenuPopup entries={entries} align={align} />
  </Base.Root>
);
