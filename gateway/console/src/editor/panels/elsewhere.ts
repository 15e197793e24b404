import { NOTHING_FOUND } from "../../messages/editor/panels";

/** Terms of other editors without a node here, and what takes their place. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/cron|schedul|timer|interval|trigger|delay|sleep|every (hour|day|week)/i, NOTHING_FOUND.triggersHint],
  [/csv|excel|xlsx|spreadsheet|\btable\b|\brows?\b|bulk/i, NOTHING_FOUND.tableHint],
  [/controlnet|\bpose|openpose|depth|canny|line ?art|scribble/i, NOTHING_FOUND.controlHint],
  [
    /vae|latent|lora|unet|clip ?(loader|skip|vision)|decode|encode|checkpoint|sampler|scheduler|sigma|guider|conditioning/i,
    NOTHING_FOUND.modelLoadingHint,
  ],
  [/credential|auth|api.?key|secret|token|password/i, NOTHING_FOUND.secretsHint],
  [/seed|random/i, NOTHING_FOUND.seedHint],
  [/mute|bypass|disable|skip node/i, NOTHING_FOUND.bypassHint],
  [/reroute|no ?op\b|no operation|do nothing|set ?node|get ?node/i, NOTHING_FOUND.linksHint],
  [/error|catch|fallback|on fail/i, NOTHING_FOUND.failuresHint],
  [/parallel|queue|cache|throttle|rate limit/i, NOTHING_FOUND.runsHint],
  [/compare|a\/b|versus/i, NOTHING_FOUND.compareHint],
];

/** Message for a query without results. An empty query means that no node fits the port. */
export const nothingWords = (query: string): string =>
  query === "" ? NOTHING_FOUND.noNodeMatchesThisPort : (ELSEWHERE.find(([pattern]) => pattern.test(query))?.[1] ?? NOTHING_FOUND.noMatches);
