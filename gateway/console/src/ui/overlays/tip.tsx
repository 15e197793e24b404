import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";
import { Keys } from "../keys";

const DELAY_MS = 350;

export interface TipProps {
  text: string;
  keys?: string | undefined;
  side?: "top" | "bottom" | "left" | "right" | undefined;
  children: ReactElement;
}

/** A short explanation that appears over an element, by pointer and by focus. */
export const Tip = ({ text, keys, side = "bottom", children }: TipProps) => (
  <Tooltip.Root>
    <Tooltip.Trigger delay={DELAY_MS} render={children} />
    <Tooltip.Portal>
      <Tooltip.Positioner side={side} sideOffset={6} className="z-60">
        <Tooltip.Popup className="flex max-w-72 items-center gap-2 rounded-md bg-text px-2 py-1 text-xs text-page shadow-panel">
          {text}
          {keys !== undefined && <Keys keys={keys} inverted />}
        </Tooltip.Popup>
      </Tooltip.Positioner>
    </Tooltip.Portal>
  </Tooltip.Root>
);
