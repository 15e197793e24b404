/** Reads texts that people type into fields. */

/** Names that are separated by spaces, lines or commas. */
export const namesIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Start of a day of the browser, or of a day after it. @param day as `2026-11-29` */
export const startOfDay = (day: string, daysAfter = 0): string => {
  const at = new Date(`${day}T00:00:00`);
  at.setDate(at.getDate() + daysAfter);
  return at.toISOString();
};
