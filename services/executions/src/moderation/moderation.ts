/** Moderation: the operator's hook checks inputs and outputs of runs before they are visible to readers. */
import { ConfigError, createSlots, type EgressClient, type Logger, withSignedUrls } from "@nodeloom/platform";
import type { MediaUrls } from "@nodeloom/kernel";
import { media as mediaProto } from "@nodeloom/proto";
import type { Calls } from "../calls/ways";
import type { Media, Transform } from "../clients";
import { moderated } from "./calls";
import { digestOf, isSaid } from "./content";
import { createDecide, type Decide } from "./decide";
import { createHook, QUESTIONS } from "./hook";
import { createInputChecks } from "./inputs";
import { createOutputChecks } from "./outputs";
import type { ModerationConfig, Sight } from "./settings";
import type { EarlierCalls } from "../reuse/earlier-calls";
import type { ReusedResult } from "../run/call-record";
import type { ModerationStore } from "../record/moderation";

export interface ModerationOptions {
  config: ModerationConfig;
  store: ModerationStore;
  media: Pick<Media, "ingest" | "upload" | "getObjects" | "getObjectsByKey" | "decideHeld" | "signUrls">;
  transform: Pick<Transform, "run">;
  /** Returns a client that can call the hook's address and no other private address. */
  egressOf: (url: string) => Pick<EgressClient, "request">;
  own: string;
  urls: MediaUrls;
  logger: Logger;
}

export type Moderation = NonNullable<ReturnType<typeof createModeration>>;

/** @returns undefined if the installation has no hook; moderation then reads and writes nothing */
export const createModeration = ({ config, store, media, transform, egressOf, own, urls, logger }: ModerationOptions) => {
  const { MODERATION_URL: url, MODERATION_SECRET: secrets, MODERATION_FAIL: fail, MODERATION_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) return undefined;
  if (secrets.length === 0) throw new ConfigError("set MODERATION_SECRET: it signs requests to the moderation hook (MODERATION_URL)");
  const sees = new Set(config.MODERATION_SEES);
  const slots = createSlots(QUESTIONS);
  const signed = (text: string, ownerId: string): Promise<string> =>
    withSignedUrls({ urls, media }, text, { ownerId, lifetime: mediaProto.UrlLifetime.URL_LIFETIME_CALL });
  const hook = createHook({ url, secrets, signed, timeoutMs, egress: egressOf(url), slots });
  const decide = createDecide({ hook, store, failsOpen: fail === "open", logger });
  const inputs = createInputChecks({ decide, store, media, own });
  const outputs = createOutputChecks({ decide, store, media, sees, own });
  const seesInputs = sees.has("inputs");
  return {
    checkRun: seesInputs ? inputs.run : undefined,
    storage: sees.has("files") ? holdingMedia(media) : media,
    transform: sees.has("files") ? holdingTransform(transform) : transform,
    calls: (calls: Calls): Calls =>
      moderated(calls, { prompt: seesInputs ? inputs.prompt : () => Promise.resolve(), outputs, hidesTexts: sees.has("texts") }),
    earlier: onlyLetGo({ store, decide, sees }),
    slots,
  };
};

/** Uploads files as held. A held file isn't readable until the hook passes it. */

async function* withHeld(parts: AsyncIterable<mediaProto.UploadRequest> | Iterable<mediaProto.UploadRequest>) {
  for await (const one of parts) {
    if (one.part?.$case !== "header") yield one;
    else yield { part: { $case: "header" as const, value: { ...one.part.value, held: true } } };
  }
}

/** Wraps media so that uploads are held. */
export const holdingMedia = (media: Pick<Media, "ingest" | "upload" | "getObjects">): Pick<Media, "ingest" | "upload" | "getObjects"> => ({
  ingest: (request, options) => media.ingest({ ...request, held: true }, options),
  upload: (parts, options) => media.upload(withHeld(parts), options),
  getObjects: (request, options) => media.getObjects({ ...request, withHeld: true }, options),
});

export const holdingTransform = (transform: Pick<Transform, "run">): Pick<Transform, "run"> => ({
  run: (request, options) => transform.run({ ...request, held: true }, options),
});

/** Limits reruns to outputs that the hook has passed. */

export interface ReuseOptions {
  store: Pick<ModerationStore, "letGo">;
  decide: Pick<Decide, "policy">;
  sees: ReadonlySet<Sight>;
}

const nameOf = (executionId: string, digest: string): string => `${executionId} ${digest}`;

/** Reuses only outputs that passed under the current policy. Other outputs are created again. */
export const onlyLetGo =
  ({ store, decide, sees }: ReuseOptions) =>
  (find: EarlierCalls): EarlierCalls =>
  async (positions, where) => {
    const results = await find(positions, where);
    const isChecked = (one: ReusedResult | null): one is ReusedResult => one !== null && sees.has(isSaid(one.outputs) ? "texts" : "files");
    const checked = results.filter(isChecked).map((one) => ({ from: one.from, digest: digestOf(one.outputs) }));
    if (checked.length === 0) return results;
    const policy = decide.policy();
    const decided = await store.letGo([...new Set(checked.map(({ from }) => from))], [...new Set(checked.map(({ digest }) => digest))]);
    const isOfPolicy = (of: string | null): boolean => policy === undefined || of === policy;
    const letGo = new Set(decided.flatMap((one) => (isOfPolicy(one.policy) ? [nameOf(one.executionId, one.digest)] : [])));
    return results.map((one) => (!isChecked(one) || letGo.has(nameOf(one.from, digestOf(one.outputs))) ? one : null));
  };
