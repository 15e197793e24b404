import { useEffect } from "react";
import { USE_TITLE } from "../messages/notices";

const PRODUCT = USE_TITLE.nodeloom;

/** Sets the title of the tab and the history entry; undefined resets it. */
export const useTitle = (title: string | undefined): void => {
  useEffect(() => {
    document.title = title === undefined ? PRODUCT : `${title} · ${PRODUCT}`;
    return () => {
      document.title = PRODUCT;
    };
  }, [title]);
};
