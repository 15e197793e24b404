import { z } from "zod";
import { list } from "../config";
import { isEncryptionKey } from "../secrets/keyring";

/** Takes the place of a key in the list: payloads as they are. */
export const UNENCRYPTED = "unencrypted";

const isEntry = (text: string): boolean => text === UNENCRYPTED || isEncryptionKey(text);

/** Keys as the environment names them, the newest first; one of them may be the word `unencrypted`. */
export const payloadKeys = (): z.ZodType<string[]> => list().pipe(z.array(z.string().refine(isEntry, "must be 64 hexadecimal digits")));
