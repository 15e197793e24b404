import { Tooltip } from "@base-ui/react/tooltip";
import { createContext, useContext, useState, type ReactElement, type RefObject } from "react";
import { Keys } from "../keys";

const DELAY_MS = 350;

/** The open dialog. Tooltips must be inside it, because a dialog is above all other elements. */
export const TipHome = createContext<RefObject<HTMLElement | null> | undefined>(undefined);

export interface TipProps {
  text: string;
  keys?: string | undefined;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  children: ReactElement;
}

/** A tooltip, shown on hover and focus. */
export const Tip = ({ text, keys, side = "bottom", children }: TipProps) => {
  const [open, setOpen] = useState(false);
  return (
    <Tooltip.Root
      open={open}
      onOpenChange={(next, details) => {
        if (details.reason === "escape-key") {
          // Hides the tooltip and lets the key act as usual, for example to close a dialog.
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
