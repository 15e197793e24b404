import { integer, list } from "@nodeloom/platform";
import { z } from "zod";

/** What the hook can see: inputs of runs and calls; texts from calls; files from calls. */
export const SIGHTS = ["inputs", "texts", "files"] as const;
export type Sight = (typeof SIGHTS)[number];

const SECRET = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/;
/** The caller waits while the inputs of a run are checked. */
const MAX_TIMEOUT_MS = 10_000;
const DEFAULT_TIMEOUT_MS = 5_000;

export const moderationVariables = {
  MODERATION_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("address of the moderation hook, which sees prompts and what is made of them; without it nothing is checked"),
  MODERATION_SECRET: list()
    .pipe(z.array(z.string().regex(SECRET, "must be whsec_ and at least 32 characters of base64")))
    .describe(
      "what requests to the moderation hook are signed with (`whsec_…`); comma separated while one replaces another: all of them sign",
    ),
  MODERATION_FAIL: z
    .enum(["closed", "open"])
    .default("closed")
    .describe("while the moderation hook is away: `closed` begins no run and shows no output, `open` lets both through unchecked"),
  MODERATION_TIMEOUT_MS: integer(100)
    .max(MAX_TIMEOUT_MS)
    .default(DEFAULT_TIMEOUT_MS)
    .describe("how long the moderation hook is asked, attempts and pauses together, before it counts as away"),
  MODERATION_SEES: list()
    .transform((names) => (names.length === 0 ? [...SIGHTS] : names))
    .pipe(z.array(z.enum(SIGHTS)))
    .describe(
      "what the moderation hook sees: `inputs`, `texts` that are made, `files` that are made; comma separated, all of them by default",
    ),
};

export type ModerationConfig = z.infer<z.ZodObject<typeof moderationVariables>>;
