/** Nodeloom's names for terms of other editors. */
import { NOTHING_FOUND } from "../../messages/editor/panels";
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/cron|schedul|timer|interval|trigger/i, NOTHING_FOUND.triggersHint],
  [/vae|latent|lora|controlnet|decode|checkpoint/i, NOTHING_FOUND.modelLoadingHint],
  [/credential|auth|api.?key|secret/i, NOTHING_FOUND.secretsHint],
];
const NOTHING = NOTHING_FOUND.noMatches;
const nothingWords = (query: string): string =>
  query === "" ? NOTHING_FOUND.noNodeMatchesThisPort : (ELSEWHERE.find(([pattern]) => pattern.test(query))?.[1] ?? NOTHING);

/** Message for a palette without results. */
export const NothingFound = ({ query }: { query: string }) => <p className="px-4 pb-4 text-sm text-muted">{nothingWords(query)}</p>;
