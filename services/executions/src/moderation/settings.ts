import { integer, list } from "@nodeloom/platform";
import { z } from "zod";

/** Content that the hook can check: inputs of runs and calls, texts from calls, files from calls. */
export const SIGHTS = ["inputs", "texts", "files"] as const;
export type Sight = (typeof SIGHTS)[number];

const SECRET = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/;
/** Bounded, because the caller waits while the inputs of a run are checked. */
const MAX_TIMEOUT_MS = 10_000;
const DEFAULT_TIMEOUT_MS = 5_000;

export const moderationVariables = {
  MODERATION_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("address of the moderation hook, which receives prompts and outputs. Without it, nothing is checked"),
  MODERATION_SECRET: list()
    .pipe(z.array(z.string().regex(SECRET, "must be whsec_ and at least 32 characters of base64")))
    .describe(
      "what requests to the moderation hook are signed with (`whsec_…`); comma separated while one replaces another: all of them sign",
    ),
  MODERATION_FAIL: z
    .enum(["closed", "open"])
    .default("closed")
    .describe(
      "behavior while the moderation hook is unavailable. `closed`: no run starts and no output is shown. `open`: both pass unchecked",
    ),
  MODERATION_TIMEOUT_MS: integer(100)
    .max(MAX_TIMEOUT_MS)
    .default(DEFAULT_TIMEOUT_MS)
    .describe("time limit of one question to the moderation hook, with attempts and pauses. After that, the hook counts as unavailable"),
  MODERATION_SEES: list()
    .transform((names) => (names.length === 0 ? [...SIGHTS] : names))
    .pipe(z.array(z.enum(SIGHTS)))
    .describe(
      "what the moderation hook sees: `inputs`, `texts` that are made, `files` that are made; comma separated, all of them by default",
    ),
};

export type ModerationConfig = z.infer<z.ZodObject<typeof moderationVariables>>;
