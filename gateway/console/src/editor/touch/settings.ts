/** Settings of an operation, as stored. Undefined removes one. */
export type Settings = Readonly<Record<string, unknown>>;

export const numberAt = (settings: Settings, name: string): number | undefined => {
  const value = settings[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
};
export const textAt = (settings: Settings, name: string): string | undefined => {
  const value = settings[name];
  return typeof value === "string" && value !== "" ? value : undefined;
};
