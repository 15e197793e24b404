/** moderation/: a hook of the operator's that sees what runs are given, and what they make, before anyone else does. Here: its parts put together. */
import { ConfigError, createSlots, type EgressClient, type Logger } from "@nodeloom/platform";
import type { Calls } from "../calls/ways";
import type { Media, Transform } from "../clients";
import type { ModerationStore } from "../store/moderation";
import { moderated } from "./calls";
import { createDecide } from "./decide";
import { holdingMedia, holdingTransform } from "./held";
import { createHook, QUESTIONS } from "./hook";
import { createInputChecks } from "./inputs";
import { createOutputChecks } from "./outputs";
import { onlyLetGo } from "./reuse";
import type { ModerationConfig } from "./settings";

export interface ModerationOptions {
  config: ModerationConfig;
  store: ModerationStore;
  media: Pick<Media, "ingest" | "upload" | "getObjects" | "getObjectsByKey" | "decideHeld">;
  transform: Pick<Transform, "run">;
  /** Calls the hook, and nothing else that is private. */
  egressOf: (url: string) => Pick<EgressClient, "request">;
  own: string;
  logger: Logger;
}

export type Moderation = NonNullable<ReturnType<typeof createModeration>>;

/** @returns undefined where this installation has no hook: nothing is read, written or asked for then */
export const createModeration = ({ config, store, media, transform, egressOf, own, logger }: ModerationOptions) => {
  const { MODERATION_URL: url, MODERATION_SECRET: secrets, MODERATION_FAIL: fail, MODERATION_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) return undefined;
  if (secrets.length === 0)
    throw new ConfigError("MODERATION_SECRET is missing: what requests to the moderation hook (MODERATION_URL) are signed with");
  const sees = new Set(config.MODERATION_SEES);
  const slots = createSlots(QUESTIONS);
  const hook = createHook({ url, secrets, timeoutMs, egress: egressOf(url), slots });
  const decide = createDecide({ hook, store, failsOpen: fail === "open", logger });
  const inputs = createInputChecks({ decide, store, media, own });
  const outputs = createOutputChecks({ decide, store, media, sees, own });
  const seesInputs = sees.has("inputs");
  return {
    /** Hears of a run before anything is held for it. */
    checkRun: seesInputs ? inputs.run : undefined,
    /** Where the files of calls are stored. */
    storage: sees.has("files") ? holdingMedia(media) : media,
    transform: sees.has("files") ? holdingTransform(transform) : transform,
    calls: (calls: Calls): Calls =>
      moderated(calls, { prompt: seesInputs ? inputs.prompt : () => Promise.resolve(), outputs, hidesTexts: sees.has("texts") }),
    earlier: onlyLetGo({ store, decide, sees }),
    slots,
  };
};
