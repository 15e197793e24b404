import { useEffect, useRef, type RefObject } from "react";

const middleOf = ({ left, width }: DOMRect): number => left + width / 2;

/** Scrolls a horizontal row to its chosen element, initially and after each change. */
export const useChosenInView = <Row extends HTMLElement>(chosenValue: string): RefObject<Row | null> => {
  const row = useRef<Row>(null);
  useEffect(() => {
    const show = (): void => {
      const target = row.current?.querySelector("[aria-selected=true], [aria-current=page]");
      // scrollIntoView would make the next Tab start here instead of at the top of the page.
      if (target) row.current!.scrollLeft += middleOf(target.getBoundingClientRect()) - middleOf(row.current!.getBoundingClientRect());
    };
    show();
    // Late fonts change the row's width.
    void document.fonts.ready.then(show);
  }, [chosenValue]);
  return row;
};
