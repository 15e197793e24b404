import type { Model } from "@nodeloom/client";
import { classes } from "../../../ui/classes";
import { MADE } from "./made";

/** examples/: what models of the machine and of the sandbox have made, by `npm run drill -- local-models --examples`. */

interface MadeExample {
  /** What it was asked. */
  asked: string;
  file?: string;
  text?: string;
}
const EXAMPLES: Readonly<Record<string, MadeExample>> = MADE;
const FILES = import.meta.glob<string>("./files/*", { eager: true, import: "default", query: "?url" });

export const exampleOf = ({ internalName }: Pick<Model, "internalName">): MadeExample | undefined => EXAMPLES[internalName];

/** What a model has made: a picture, a film, a sound or a text. Nothing where there is no example. */
export const Example = ({ model, className }: { model: Model; className?: string }) => {
  const example = exampleOf(model);
  if (!example) return null;
  const { asked, file, text } = example;
  const src = file === undefined ? undefined : FILES[`./files/${file}`];
  if (src === undefined)
    return <blockquote className={classes("line-clamp-4 border-l-2 pl-3 text-[13px] text-muted", className)}>{text}</blockquote>;
  const label = `An example of ${model.displayName}: ${asked}`;
  // Above the link that covers a card.
  const media = classes("relative z-10 w-full", className);
  if (model.modality === "audio") return <audio controls preload="none" src={src} aria-label={label} className={media} />;
  if (model.modality === "video")
    return (
      <video
        controls
        muted
        loop
        playsInline
        preload="metadata"
        src={src}
        aria-label={label}
        className={classes("rounded-lg bg-sunken", media)}
      />
    );
  return <img src={src} alt={label} loading="lazy" className={classes("w-full rounded-lg bg-sunken object-contain", className)} />;
};
