import { useEffect, useRef, type RefObject } from "react";

const middleOf = ({ left, width }: DOMRect): number => left + width / 2;

/** For a row that scrolls sideways: what is chosen in it is scrolled to, at first and whenever it changes. */
export const useChosenInView = <Row extends HTMLElement>(chosen: string): RefObject<Row | null> => {
  const row = useRef<Row>(null);
  useEffect(() => {
    const show = (): void => {
      const target = row.current?.querySelector("[aria-selected=true], [aria-current=page]");
      // Not scrollIntoView: from then on Tab would begin there, and not at the top of the page.
      if (target) row.current!.scrollLeft += middleOf(target.getBoundingClientRect()) - middleOf(row.current!.getBoundingClientRect());
    };
    show();
    // Letters that arrive late make the row another width.
    void document.fonts.ready.then(show);
  }, [chosen]);
  return row;
};
