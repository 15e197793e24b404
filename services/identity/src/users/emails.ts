import { z } from "zod";

/** The longest address that can be delivered to. */
const MAX_EMAIL_CHARS = 254;
const address = z.email();

/** One spelling for each address. */
export const normaliseEmail = (email: string): string => email.trim().toLowerCase();

export const isEmail = (email: string): boolean => email.length <= MAX_EMAIL_CHARS && address.safeParse(email).success;
