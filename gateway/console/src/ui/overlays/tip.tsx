import { Tooltip } from "@base-ui/react/tooltip";
import { createContext, useContext, useState, type ReactElement, type RefObject } from "react";
import { Keys } from "../keys";

const DELAY_MS = 350;

/** The dialog that is open. A tip must be inside of it: a dialog stands above all else of the page. */
export const TipHome = createContext<RefObject<HTMLElement | null> | undefined>(undefined);

export interface TipProps {
  text: string;
  keys?: string | undefined;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  children: ReactElement;
}

/** A short explanation that appears over an element, by pointer and by focus. */
export const Tip = ({ text, keys, side = "bottom", children }: TipProps) => {
  const [open, setOpen] = useState(false);
  return (
    <Tooltip.Root
      open={open}
      onOpenChange={(next, details) => {
        if (details.reason === "escape-key") {
          // The tip goes, and whatever else the key means happens as well: a dialog closes, a selection ends.
          details.cancel();
          details.allowPropagation();
        }
        setOpen(next);
      }}
    >
      <Tooltip.Trigger delay={DELAY_MS} render={children} />
      <Tooltip.Portal container={useContext(TipHome)}>
        <Tooltip.Positioner side={side} sideOffset={6} className="z-60">
          <Tooltip.Popup className="flex max-w-72 items-center gap-2 rounded-md bg-text px-2 py-1 text-xs text-page shadow-panel">
            {text}
            {keys !== undefined && <Keys keys={keys} inverted />}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
};
