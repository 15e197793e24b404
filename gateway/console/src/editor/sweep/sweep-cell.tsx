import type { BatchRow } from "@nodeloom/client";
import { Check, LoaderCircle, Star } from "lucide-react";
import type { NodeOutput } from "../../runs/node-output";
import { OutputThumb } from "../../media/output-thumb";
import { Button } from "../../ui/button";
import { classes } from "../../ui/classes";
import { roundCredits } from "../../ui/format";
import { MOST_STARS } from "./ratings";
import { SWEEP_CELL } from "../../messages/editor/sweep";

const THUMB_PX = 320;

const Stars = ({ name, stars, onRate }: { name: string; stars: number; onRate: (stars: number) => void }) => (
  <span role="group" aria-label={SWEEP_CELL.ratingOf(name)} className="flex">
    {Array.from({ length: MOST_STARS }, (_, index) => index + 1).map((value) => (
      <button
        key={value}
        type="button"
        aria-label={SWEEP_CELL.of(value, MOST_STARS)}
        aria-pressed={value === stars}
        className="flex size-6 items-center justify-center text-warn"
        onClick={() => onRate(value === stars ? 0 : value)}
      >
        <Star className={classes("size-4", value <= stars && "fill-current")} aria-hidden />
      </button>
    ))}
  </span>
);

const Stage = ({ row, output, name, onView }: { row: BatchRow; output: NodeOutput | undefined; name: string; onView: () => void }) => {
  const box = "block aspect-[4/3] w-full overflow-hidden rounded-lg";
  const [file] = output?.files ?? [];
  if (output && (file ?? output.text) !== undefined)
    return (
      <button
        type="button"
        aria-label={SWEEP_CELL.view(name)}
        className={classes(box, "relative bg-(--media) text-left hover:opacity-90")}
        onClick={onView}
      >
        {file ? (
          <OutputThumb file={file} label={name} width={THUMB_PX} className="size-full" />
        ) : (
          <span className="block size-full overflow-hidden bg-sunken p-2 text-xs wrap-anywhere text-text">{output.text}</span>
        )}
        {output.files.length > 1 && (
          <span className="absolute right-1.5 bottom-1.5 rounded-full bg-(--media)/85 px-2 text-xs text-(--on-media)">
            {SWEEP_CELL.files(output.files.length)}
          </span>
        )}
      </button>
    );
  const isWorking = row.status === "processing" || row.status === "waiting" || (row.status === "completed" && output === undefined);
  return (
    <span className={classes(box, "flex items-center justify-center bg-sunken p-2 text-center text-xs wrap-anywhere text-muted")}>
      {isWorking ? (
        <LoaderCircle className="size-5 animate-spin text-accent-text" aria-label={row.status} role="img" />
      ) : (
        (row.error?.message ?? (row.status === "completed" ? SWEEP_CELL.noResult : SWEEP_CELL.status(row.status)))
      )}
    </span>
  );
};

export interface CellProps {
  row: BatchRow;
  output: NodeOutput | undefined;
  /** Settings of the variation as text. */
  name: string;
  /** True to show the name. In a table the headings have it. */
  isNamed: boolean;
  isUsed: boolean;
  stars: number;
  onView: () => void;
  onRate: (stars: number) => void;
  /** Undefined if the workflow can't be changed. */
  onUse: (() => void) | undefined;
}

/** One variation: output, cost and rating. */
export const SweepCell = ({ row, output, name, isNamed, isUsed, stars, onView, onRate, onUse }: CellProps) => (
  <div className={classes("min-w-36 rounded-xl border bg-surface p-2", isUsed && "border-accent! ring-1 ring-accent")}>
    <Stage row={row} output={output} name={name} onView={onView} />
    {isNamed && (
      <p className="mt-1.5 truncate text-xs font-medium" title={name}>
        {name}
      </p>
    )}
    {row.status === "completed" && (
      <div className="mt-1 flex flex-wrap items-center justify-between gap-x-2">
        <Stars name={name} stars={stars} onRate={onRate} />
        <span className="text-xs text-muted tabular-nums">
          {row.creditsCost > 0 ? SWEEP_CELL.cr(roundCredits(row.creditsCost)) : SWEEP_CELL.free}
        </span>
        {onUse && (
          <Button size="sm" className="mt-1 w-full" icon={Check} aria-label={SWEEP_CELL.useThis(name)} onClick={onUse}>
            {SWEEP_CELL.useThisVariation}
          </Button>
        )}
      </div>
    )}
  </div>
);
