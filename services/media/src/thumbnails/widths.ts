/** Widths that thumbnails are made in, in pixels: anything else is rounded up to the next. */
export const WIDTHS = [96, 192, 384, 768, 1536, 2048] as const;
export type Width = (typeof WIDTHS)[number];

const DIGITS = /^\d{1,4}$/;

/** The width that a request's `w` means; undefined for what is no number from 1 to 2048. */
export const widthOf = (given: string): Width | undefined => {
  if (!DIGITS.test(given) || Number(given) < 1) return undefined;
  return WIDTHS.find((width) => width >= Number(given));
};
