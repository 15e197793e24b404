/** Preferences of a request (RFC 7240), as far as runs know them. */
export interface Preferences {
  /** Answer at once, and let the run be polled. */
  respondAsync: boolean;
  /** Refuse the run instead of letting it wait in line. */
  noQueue: boolean;
  /** Seconds. */
  wait: number | undefined;
}

const WAIT = /^wait\s*=\s*"?(\d{1,6})"?$/i;

export const readPrefer = (header: string | string[] | undefined): Preferences => {
  const names = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(/[,;]/).map((one) => one.trim());
  const wait = names.map((name) => WAIT.exec(name)?.[1]).find((seconds) => seconds !== undefined);
  const has = (name: string): boolean => names.some((one) => one.toLowerCase() === name);
  return { respondAsync: has("respond-async"), noQueue: has("no-queue"), wait: wait === undefined ? undefined : Number(wait) };
};
