import type { KeyboardEvent, ReactNode } from "react";
import { useEditor, useUi } from "../context";
import type { PaletteRequest } from "../ui-store";
import { COMMON } from "../../messages/common";
import { PALETTE_BOX } from "../../messages/editor/palette";

const WIDTH = 300;
const HEIGHT = 380;
const MARGIN = 8;
export const CHOICES_ID = "palette-choices";

const heading = ({ from, edgeId }: PaletteRequest): string => {
  if (edgeId !== undefined) return PALETTE_BOX.insertANode;
  if (!from) return COMMON.addNode;
  return from.side === "output" ? PALETTE_BOX.sendTo(from.port.name) : PALETTE_BOX.fillFrom(from.port.name);
};

export interface PaletteBoxProps {
  request: PaletteRequest;
  query: string;
  /** Id of the choice that Enter selects. */
  active?: string | undefined;
  onQuery: (query: string) => void;
  onKey: (key: string, event: KeyboardEvent) => void;
  children: ReactNode;
}

/** The palette's frame: position and search field. */
export const PaletteBox = ({ request, query, active, onQuery, onKey, children }: PaletteBoxProps) => {
  const { ui } = useEditor();
  const left = Math.max(MARGIN, Math.min(request.at.x, window.innerWidth - WIDTH - MARGIN));
  const top = Math.max(MARGIN, Math.min(request.at.y, window.innerHeight - HEIGHT - MARGIN));
  return (
    <div
      role="dialog"
      aria-label={heading(request)}
      className="fixed z-50 flex flex-col overflow-hidden rounded-xl border bg-surface shadow-high"
      style={{ left, top, width: WIDTH, maxHeight: HEIGHT }}
    >
      <div className="border-b p-2">
        <div className="px-1 pb-1.5 text-xs font-medium text-muted">{heading(request)}</div>
        <input
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={CHOICES_ID}
          aria-activedescendant={active}
          aria-label={PALETTE_BOX.searchNodesAndModels}
          placeholder={PALETTE_BOX.searchNodesAndModels}
          className="h-8 w-full rounded-lg bg-sunken px-2.5 text-sm outline-none"
          value={query}
          onChange={(event) => onQuery(event.target.value)}
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === "Escape") ui.setState({ palette: undefined });
            else onKey(event.key, event);
          }}
        />
      </div>
      {children}
    </div>
  );
};

/** Collects typed text while the choices load. */
export const PaletteWaiting = () => {
  const { ui } = useEditor();
  const request = useUi((state) => state.palette);
  if (!request) return null;
  return (
    <PaletteBox
      request={request}
      query={request.typed ?? ""}
      onQuery={(typed) => ui.setState({ palette: { ...request, typed, isEntered: false } })}
      onKey={(key) => key === "Enter" && ui.setState({ palette: { ...request, isEntered: true } })}
    >
      <ul id={CHOICES_ID} role="listbox" aria-label={COMMON.nodes} aria-busy className="h-24" />
    </PaletteBox>
  );
};
