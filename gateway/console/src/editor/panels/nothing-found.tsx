/** What people of other editors look for, and where it is here. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/cron|schedul|timer|interval|trigger/i, "Times and calls from outside start a workflow: Schedules and hooks, in the menu above."],
  [
    /vae|latent|lora|controlnet|decode|checkpoint/i,
    "What loads, encodes and decodes is inside of models here: add an Image, and choose its model.",
  ],
  [/credential|auth|api.?key|secret/i, "Keys of services stand under Secrets, and are named as {{secrets.NAME}} in an HTTP request."],
];
const NOTHING =
  "No node, and no model that is switched on, is called that. Others need the key of their provider, which an administrator sets.";
const nothingWords = (query: string): string =>
  query === "" ? "No node fits this port." : (ELSEWHERE.find(([pattern]) => pattern.test(query))?.[1] ?? NOTHING);

/** Why the palette is empty. */
export const NothingFound = ({ query }: { query: string }) => <p className="px-4 pb-4 text-sm text-muted">{nothingWords(query)}</p>;
