/** Message of the service about a place, relative to the form that shows it. */
export type ErrorAt = (path: string) => string | undefined;

/** @param prefix place of the form in the whole, such as `expect[0].` */
export const errorsBelow =
  (fields: ReadonlyMap<string, string> | undefined, prefix: string): ErrorAt =>
  (path) =>
    fields?.get(`${prefix}${path}`);
