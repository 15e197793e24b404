import { useEffect, useRef, type RefObject } from "react";

/** For a row that scrolls sideways: what is chosen in it is scrolled to, at first and whenever it changes. */
export const useChosenInView = <Row extends HTMLElement>(chosen: string): RefObject<Row | null> => {
  const row = useRef<Row>(null);
  useEffect(() => {
    const show = (): void =>
      row.current?.querySelector("[aria-selected=true], [aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
    show();
    // Letters that arrive late make the row another width.
    void document.fonts.ready.then(show);
  }, [chosen]);
  return row;
};
