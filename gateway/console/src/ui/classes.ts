/** Joins class names, without false and missing ones. */
export const classes = (...names: readonly (string | false | null | undefined)[]): string => names.filter(Boolean).join(" ");
