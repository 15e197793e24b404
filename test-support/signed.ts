import { createSignatures } from "../services/media/src/urls/signatures";

/** Signs addresses in tests. */
export const URL_KEY = "ab".repeat(32);
const LATER = Math.floor(Date.now() / 1_000) + 3_600;

/** A file's key with a signature that is valid for an hour. */
export const signed = (key: string): string => `${key}?${createSignatures([URL_KEY]).sign(key, LATER)}`;

/** The path of an address, signed. */
export const signedPath = (url: string): string => `/media/${signed(new URL(url).pathname.split("/").at(-1)!)}`;
