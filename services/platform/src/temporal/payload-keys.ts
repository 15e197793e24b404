import { z } from "zod";
import { list } from "../config";
import { isEncryptionKey } from "../secrets/keyring";

/** List entry that allows plain payloads. */
export const UNENCRYPTED = "unencrypted";

const isEntry = (text: string): boolean => text === UNENCRYPTED || isEncryptionKey(text);

/** Keys from the environment, newest first. One entry can be `unencrypted`. */
export const payloadKeys = (): z.ZodType<string[]> => list().pipe(z.array(z.string().refine(isEntry, "must be 64 hexadecimal digits")));
