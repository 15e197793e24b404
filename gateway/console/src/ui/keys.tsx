import { classes } from "./classes";

const IS_MAC = typeof navigator !== "undefined" && /Mac|iP(hone|ad)/.test(navigator.platform);
const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ["Mod", IS_MAC ? "⌘" : "Ctrl"],
  ["Shift", IS_MAC ? "⇧" : "Shift"],
  ["Alt", IS_MAC ? "⌥" : "Alt"],
  ["Backspace", "⌫"],
  ["ArrowUp", "↑"],
  ["ArrowDown", "↓"],
  ["ArrowLeft", "←"],
  ["ArrowRight", "→"],
]);

/** A shortcut such as `Mod+Shift+Z`, in this machine's notation. */
export const Keys = ({ keys, inverted }: { keys: string; inverted?: boolean }) => (
  <kbd className={classes("shrink-0 font-sans text-[11px] font-medium", inverted ? "opacity-75" : "text-faint")}>
    {keys
      .split("+")
      .map((key) => SYMBOLS.get(key) ?? key)
      .join(IS_MAC ? "" : "+")}
  </kbd>
);
