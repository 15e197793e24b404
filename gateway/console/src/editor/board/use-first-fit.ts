import { useEffect, useRef, useState, type RefObject } from "react";
import type { Box } from "../../canvas/geometry";
import type { Stage } from "../commands/command";
import { useEditor, useUi } from "../context";
import type { OpenState } from "../use-open-document";

const NARROW = "(max-width: 767px)";
/** After any of these the view is the user's. */
const TOUCHES = ["pointerdown", "wheel", "keydown"] as const;

type Boxes = ReadonlyMap<string, Box>;
const isSameSize = (before: Boxes, now: Boxes): boolean =>
  before === now ||
  (before.size === now.size &&
    [...now].every(([id, { width, height }]) => before.get(id)?.width === width && before.get(id)?.height === height));

/**
 * Shows the whole workflow on its first opening, and on a phone. Nodes grow when results of earlier runs and files load: until the user
 * touches the page, the view follows, so that the lowest nodes aren't cut.
 * @returns whether the user has touched the page
 */
export const useFirstFit = (stage: Stage, viewport: OpenState["workflow"]["viewport"]): RefObject<boolean> => {
  const { scene } = useEditor();
  const [isFirst] = useState(viewport.x === 0 && viewport.y === 0 && viewport.zoom === 1);
  const isTouched = useRef(false);
  // On a phone the panel covers half of the screen.
  const roomFor = useUi((state) => matchMedia(NARROW).matches && state.panelOpen);
  const fits = isFirst || matchMedia(NARROW).matches;
  useEffect(() => {
    const touch = (): void => {
      isTouched.current = true;
    };
    for (const name of TOUCHES) window.addEventListener(name, touch, { capture: true, once: true });
    return () => {
      for (const name of TOUCHES) window.removeEventListener(name, touch, { capture: true });
    };
  }, []);
  useEffect(() => {
    if (!fits || (isTouched.current && !matchMedia(NARROW).matches)) return undefined;
    let frame = requestAnimationFrame(() => stage.fit(undefined, true));
    const stop = scene.store.subscribe((now, before) => {
      if (isTouched.current || isSameSize(before.boxes, now.boxes)) return;
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => stage.fit(undefined, true));
    });
    return () => {
      cancelAnimationFrame(frame);
      stop();
    };
  }, [fits, stage, scene, roomFor]);
  return isTouched;
};
