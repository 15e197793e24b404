/** Widths in pixels. A requested width is rounded up to the next one. */
export const WIDTHS = [96, 192, 384, 768, 1536, 2048] as const;
export type Width = (typeof WIDTHS)[number];

const DIGITS = /^\d{1,4}$/;

/** Returns the width for a query parameter `w`; undefined unless `w` is a number from 1 to 2048. */
export const widthOf = (text: string): Width | undefined => {
  if (!DIGITS.test(text) || Number(text) < 1) return undefined;
  return WIDTHS.find((width) => width >= Number(text));
};
