/** Counterparts of other editors' terms. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [
    /cron|schedul|timer|interval|trigger/i,
    "A workflow starts on a schedule or by a call from outside. Set this up under Schedules and hooks, in the menu above.",
  ],
  [
    /vae|latent|lora|controlnet|decode|checkpoint/i,
    "Models here load, encode and decode themselves. Add an Image node and choose its model.",
  ],
  [/credential|auth|api.?key|secret/i, "Keys of other services are under Secrets. Write {{secrets.NAME}} in an HTTP request to use one."],
];
const NOTHING =
  "No node or enabled model does this. An administrator can enable more models by adding a provider's key. HTTP request calls any other service.";
const nothingWords = (query: string): string =>
  query === "" ? "No node fits this port." : (ELSEWHERE.find(([pattern]) => pattern.test(query))?.[1] ?? NOTHING);

/** Why the palette is empty. */
export const NothingFound = ({ query }: { query: string }) => <p className="px-4 pb-4 text-sm text-muted">{nothingWords(query)}</p>;
