import { z } from "zod";
import { list } from "../config";
import { isEncryptionKey } from "../secrets/keyring";

/** Takes the place of a key in the list: plain payloads. */
export const UNENCRYPTED = "unencrypted";

const isEntry = (text: string): boolean => text === UNENCRYPTED || isEncryptionKey(text);

/** Keys in the environment, newest first. One entry can be the word `unencrypted`. */
export const payloadKeys = (): z.ZodType<string[]> => list().pipe(z.array(z.string().refine(isEntry, "must be 64 hexadecimal digits")));
