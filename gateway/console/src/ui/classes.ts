/** Class names joined by blanks; what is false or missing is left out. */
export const classes = (...names: readonly (string | false | null | undefined)[]): string => names.filter(Boolean).join(" ");
