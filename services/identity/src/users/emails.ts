import { z } from "zod";

/** Maximum length of a deliverable address. */
const MAX_EMAIL_CHARS = 254;
const address = z.email();

export const normaliseEmail = (email: string): string => email.trim().toLowerCase();

export const isEmail = (email: string): boolean => email.length <= MAX_EMAIL_CHARS && address.safeParse(email).success;
