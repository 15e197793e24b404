import type { Model } from "@nodeloom/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { request } from "../../../api/client";
import { MediaView } from "../../../media/media-view";
import type { MediaFamily } from "../../../media/url";
import { classes } from "../../../ui/classes";
import { MADE } from "./examples";
import { newestFile, newestOf } from "./newest";
import { EXAMPLE } from "../../../messages/models";

/**
 * Examples of models: the account's newest output, or else an output of local and sandbox models from `npm run drill -- local-models
 * --examples`.
 */

interface MadeExample {
  /** Prompt of the example. */
  prompt: string;
  file?: string;
  text?: string;
}
const EXAMPLES: Readonly<Record<string, MadeExample>> = MADE;
const FILES = import.meta.glob<string>("./files/*", { eager: true, import: "default", query: "?url" });

/** Maximum files searched. */
const LOOKED_THROUGH = 200;
const FRESH_MS = 60_000;
const newestQuery = queryOptions({
  queryKey: ["media", "newest"],
  queryFn: async ({ signal }) => newestOf((await request("listMedia", { query: { limit: LOOKED_THROUGH }, signal })).body.rows),
  staleTime: FRESH_MS,
});

/** Width in device pixels. */
const WIDTH = 768;

export interface ExampleView {
  /** Description of the example. */
  words: string;
  src?: string | undefined;
  text?: string | undefined;
}

export const useExample = (model: Model): ExampleView | undefined => {
  const newest = useQuery(newestQuery);
  const own = newestFile(newest.data, model);
  if (own) return { words: EXAMPLE.yourLatestResult, src: own.url };
  const example = EXAMPLES[model.internalName];
  return (
    example && { words: example.prompt, text: example.text, src: example.file === undefined ? undefined : FILES[`./files/${example.file}`] }
  );
};

/** An output of a model: picture, video, sound or text. Hidden without an example. */
export const Example = ({ model, className }: { model: Model; className?: string }) => {
  const example = useExample(model);
  if (!example) return null;
  const { words, src, text } = example;
  if (src === undefined)
    return <blockquote className={classes("line-clamp-4 border-l-2 pl-3 text-[13px] text-muted", className)}>{text}</blockquote>;
  const label = EXAMPLE.exampleFrom(model.displayName, words);
  const file = { url: src, family: model.modality as MediaFamily };
  // Media with controls is above the link that covers a card.
  const look = model.modality === "image" ? "w-full rounded-lg bg-sunken object-contain" : "relative z-10 w-full rounded-lg bg-sunken";
  return <MediaView file={file} label={label} width={WIDTH} isSample className={classes(look, className)} />;
};
