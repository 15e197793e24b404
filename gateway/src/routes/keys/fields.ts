import { z } from "zod";

const MAX_CAPABILITIES = 100;
const MAX_CAPABILITY_CHARS = 300;

export const capabilities = z.array(z.string().min(1).max(MAX_CAPABILITY_CHARS)).min(1).max(MAX_CAPABILITIES);
