import { useEffect } from "react";

const PRODUCT = "Nodeloom";

/** Names the browser's tab, and its entry in the history, after what is shown; undefined leaves the product's name. */
export const useTitle = (title: string | undefined): void => {
  useEffect(() => {
    document.title = title === undefined ? PRODUCT : `${title} · ${PRODUCT}`;
    return () => {
      document.title = PRODUCT;
    };
  }, [title]);
};
