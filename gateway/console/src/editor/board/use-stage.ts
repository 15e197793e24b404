import { useNavigate } from "@tanstack/react-router";
import { useReactFlow, type FitViewOptions } from "@xyflow/react";
import { useMemo } from "react";
import { around } from "../../canvas/rects";
import { complain } from "../../ui/overlays/toast";
import { rectsOf, selectedNodes } from "../chosen";
import { placeBeside } from "../commands/actions";
import { pasteText } from "../commands/paste";
import { uploadToCanvas } from "../commands/files";
import type { Stage } from "../commands/command";
import type { Editor } from "../context";
import type { Panel } from "../ui-store";
import { USE_STAGE } from "../../messages/editor/board";

const GLIDE_MS = 250;
const MOST_ZOOM = 1.1;
const NARROW = "(max-width: 767px)";
const NO_MOTION = "(prefers-reduced-motion: reduce)";

/** How long to wait for a panel before focusing it. */
const PANEL_FRAMES = 60;

const RUN_FORM = "aside form[data-run]";
const FIRST_CONTROL = ":is(input, textarea, select):not(:disabled, [type=file])";

/** Duration of canvas moves. */
export const glideMs = (): number => (matchMedia(NO_MOTION).matches ? 0 : GLIDE_MS);

/** Focuses the panel once it is rendered: selects its first field, or else focuses its submit button. */
const focusPanel = (frames = PANEL_FRAMES): void => {
  requestAnimationFrame(() => {
    const panel = document.querySelector("aside [role=tabpanel]");
    const control = panel?.querySelector<HTMLElement>(FIRST_CONTROL) ?? panel?.querySelector<HTMLElement>("button[type=submit]");
    // The panel's code can still be loading.
    if (!control && frames > 0) return focusPanel(frames - 1);
    // A phone's keyboard would cover the panel.
    if (matchMedia(NARROW).matches) return;
    control?.focus();
    if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement) control.select();
  });
};

/** Clipboard contents: pictures, else text. @throws if the browser denies access */
const readClipboard = async (): Promise<{ text: string; files: File[] }> => {
  const items = await navigator.clipboard.read();
  const pictures = items.flatMap((item) => item.types.filter((type) => type.startsWith("image/")).map((type) => ({ item, type })));
  const files = await Promise.all(pictures.map(async ({ item, type }) => new File([await item.getType(type)], "image", { type })));
  return { text: files.length > 0 ? "" : await navigator.clipboard.readText(), files };
};

type Padding = NonNullable<FitViewOptions["padding"]>;
/** The tools on the left need more room. */
const SIDES = { x: 0.06, y: 0.08, left: "76px" } as const;
const EDGE = 16;

/** Margins around the view. On a phone they include the part behind the panel, else the tools below. */
const paddingAround = (): Padding => {
  const [canvas, panel] = [document.querySelector(".react-flow"), document.querySelector("aside[aria-label='Side panel']")];
  if (!matchMedia(NARROW).matches) return SIDES;
  if (!canvas || !panel) return { x: `${EDGE}px`, top: `${EDGE}px`, bottom: SIDES.left };
  const covered = Math.max(0, canvas.getBoundingClientRect().bottom - panel.getBoundingClientRect().top);
  return { x: `${EDGE}px`, top: `${EDGE}px`, bottom: `${covered + EDGE}px` };
};

/** Effects of commands on the view and panels. */
export const useStage = (editor: Editor): Stage => {
  const flow = useReactFlow();
  const navigate = useNavigate();
  return useMemo((): Stage => {
    const middle = (): { x: number; y: number } => {
      const { left, top, width, height } =
        document.querySelector(".react-flow")?.getBoundingClientRect() ?? new DOMRect(0, 0, innerWidth, innerHeight);
      return { x: left + width / 2, y: top + height / 2 };
    };
    const fit: Stage["fit"] = (nodeIds, atOnce = false) => {
      const nodes = nodeIds === undefined || nodeIds.length === 0 ? undefined : nodeIds.map((id) => ({ id }));
      const duration = atOnce ? 0 : glideMs();
      void flow.fitView({ duration, padding: paddingAround(), maxZoom: MOST_ZOOM, ...(nodes ? { nodes } : {}) });
    };
    /** Pans to pasted nodes out of view. */
    const showPasted = (): void => {
      const nodes = selectedNodes(editor);
      const frame = around([...rectsOf(editor, nodes).values()]);
      const canvas = document.querySelector(".react-flow")?.getBoundingClientRect();
      if (!frame || !canvas) return;
      const from = flow.flowToScreenPosition(frame);
      const to = flow.flowToScreenPosition({ x: frame.x + frame.width, y: frame.y + frame.height });
      const isSeen = from.x >= canvas.left && from.y >= canvas.top && to.x <= canvas.right && to.y <= canvas.bottom;
      if (!isSeen) fit(nodes.map(({ id }) => id));
    };
    const open = (panel: Panel): void => {
      editor.ui.setState({ panel, panelOpen: true });
      focusPanel();
    };
    const paste = (text: string, at: { x: number; y: number }): void =>
      void pasteText(editor, text, at).then((isPasted) => isPasted && showPasted());
    return {
      middle: () => flow.screenToFlowPosition(middle()),
      fit,
      zoom: (to) => void { in: () => flow.zoomIn(), out: () => flow.zoomOut(), whole: () => flow.zoomTo(1) }[to](),
      openPalette: () => {
        const at = middle();
        editor.ui.setState({
          palette: { at: { x: at.x - 150, y: at.y - 190 }, place: flow.screenToFlowPosition({ x: at.x - 124, y: at.y - 80 }) },
        });
      },
      paste: () => {
        const at = flow.screenToFlowPosition(middle());
        readClipboard().then(
          ({ text, files }) => (files.length > 0 ? void uploadToCanvas(editor, files, at) : paste(text, at)),
          () => complain(USE_STAGE.clipboardBlocked),
        );
      },
      pasteFrom: (data) => {
        const at = flow.screenToFlowPosition(middle());
        const files = [...data.files];
        if (files.length > 0) void uploadToCanvas(editor, files, at);
        else paste(data.getData("text/plain"), at);
      },
      addAfter: () => {
        const { nodes } = editor.document.store.getState().selection;
        const [nodeId] = [...nodes];
        const port = nodeId === undefined ? undefined : editor.scene.store.getState().ports.get(nodeId)?.outputs[0];
        if (nodeId === undefined || !port || nodes.size > 1) return complain(USE_STAGE.selectOneNode);
        const place = placeBeside(editor, nodeId, "output");
        // Opens the palette beside the node, at the new node's position.
        editor.ui.setState({ palette: { at: flow.flowToScreenPosition(place), place, from: { nodeId, port, side: "output" } } });
      },
      settings: () => open("node"),
      assist: () => open("assistant"),
      open: (slug) => void navigate({ to: "/workflows/$slug", params: { slug } }),
      leave: (page) =>
        page === "batch"
          ? void navigate({ to: "/batches", search: { workflow: editor.slug } })
          : void navigate({ to: "/workflows/$slug/triggers", params: { slug: editor.slug } }),
      run: () => {
        const { panel, panelOpen } = editor.ui.getState();
        const form = document.querySelector<HTMLFormElement>(RUN_FORM);
        if (panel === "run" && panelOpen && form?.contains(document.activeElement)) return form.requestSubmit();
        open("run");
      },
    };
  }, [editor, flow, navigate]);
};
