import { createStore, type StoreApi } from "zustand";
import type { Port, PortBook } from "../../canvas/ports";
import type { Judgement } from "../../canvas/judge";
import type { Box } from "../../canvas/geometry";

/** One end of a link that is being made. */
export interface LinkStart {
  nodeId: string;
  /** Which side of the node it leaves. */
  side: "output" | "input";
  port: Port;
}

/** Where the palette stands and what becomes of the choice. */
export interface PaletteRequest {
  /** On the screen. */
  at: { x: number; y: number };
  /** On the board. */
  place: { x: number; y: number };
  from?: LinkStart;
  /** An edge that the new node is put into. */
  edgeId?: string;
}

export type Panel = "node" | "run" | "problems";
export type Overlay = "help" | "commands" | "settings" | "find" | "connect" | "api" | "versions";

export interface EditorUi {
  panel: Panel;
  panelOpen: boolean;
  palette: PaletteRequest | undefined;
  overlay: Overlay | undefined;
  linking: LinkStart | undefined;
  /** Ports, boxes and judgement of the graph as it is now; the board keeps them. */
  ports: PortBook;
  boxes: ReadonlyMap<string, Box>;
  judgement: Judgement;
  locked: boolean;
}

export const createUi = (): StoreApi<EditorUi> =>
  createStore<EditorUi>(() => ({
    panel: "node",
    panelOpen: typeof window !== "undefined" && window.innerWidth >= 900,
    palette: undefined,
    overlay: undefined,
    linking: undefined,
    ports: new Map(),
    boxes: new Map(),
    judgement: { issues: [], warnings: {}, prices: new Map() },
    locked: false,
  }));
