import { LoaderCircle, SplitSquareHorizontal } from "lucide-react";
import { Thumb } from "../../media/thumb";
import { SWAP } from "../../messages/editor/swap";
import { Badge, type Tone } from "../../ui/badge";
import { Button } from "../../ui/button";
import { duration, roundCredits } from "../../ui/format";
import { checkWords } from "../tests/results";
import type { Compared, Pair, Side } from "./evidence";

const THUMB_PX = 480;
const TONES: Readonly<Record<Side["status"], Tone>> = { waiting: "neutral", processing: "accent", passed: "ok", failed: "bad" };

const Output = ({ side: { given, status }, label }: { side: Side; label: string }) => {
  const [file] = given?.files ?? [];
  if (file)
    return (
      <span className="block aspect-[4/3] w-full overflow-hidden rounded-lg bg-(--media)">
        <Thumb file={file} label={label} width={THUMB_PX} className="size-full" />
      </span>
    );
  if (given?.text !== undefined)
    return (
      <p
        className="max-h-48 overflow-y-auto rounded-lg bg-sunken p-2.5 text-[13px] wrap-anywhere whitespace-pre-wrap"
        tabIndex={0}
        role="group"
        aria-label={label}
      >
        {given.text}
      </p>
    );
  const isWorking = status === "waiting" || status === "processing";
  return (
    <p className="flex aspect-[4/3] items-center justify-center rounded-lg bg-sunken p-2 text-center text-xs text-muted">
      {isWorking ? (
        <LoaderCircle className="size-5 animate-spin text-accent-text" aria-label={SWAP.statuses[status]} role="img" />
      ) : (
        SWAP.noResult
      )}
    </p>
  );
};

const SidePart = ({ side, title, isChecked }: { side: Side | undefined; title: string; isChecked: boolean }) => (
  <div className="flex min-w-0 flex-col gap-1.5">
    <p className="text-xs font-medium wrap-anywhere">{title}</p>
    {side ? (
      <Output side={side} label={title} />
    ) : (
      <p className="flex aspect-[4/3] items-center justify-center rounded-lg bg-sunken text-xs text-muted">{SWAP.notCompared}</p>
    )}
    {side && (
      <p className="flex flex-wrap items-center justify-between gap-x-2 gap-y-1 text-xs text-muted tabular-nums">
        <Badge tone={TONES[side.status]}>{side.status === "passed" && !isChecked ? SWAP.completed : SWAP.statuses[side.status]}</Badge>
        <span title={SWAP.pairCost}>{SWAP.cost(roundCredits(side.price))}</span>
        <span title={SWAP.nodeTime}>{side.ms === undefined ? SWAP.unknown : duration(side.ms)}</span>
      </p>
    )}
    {side && side.failures.length > 0 && (
      <ul className="flex flex-col gap-0.5">
        {side.failures.map((failure, index) => (
          <li key={index} className="text-xs text-bad wrap-anywhere">
            {checkWords(failure)}
          </li>
        ))}
      </ul>
    )}
  </div>
);

/** Results of both models for the same inputs. */
export const SwapPair = ({
  pair: { name, now, before },
  models,
  isChecked,
  onView,
}: {
  pair: Pair;
  models: Compared;
  isChecked: boolean;
  /** Undefined if a side has no file. */
  onView: (() => void) | undefined;
}) => (
  <article aria-label={name} className="rounded-xl border bg-surface p-3">
    <div className="mb-2 flex items-center gap-2">
      <h3 className="min-w-0 flex-1 truncate text-sm font-medium" title={name}>
        {name}
      </h3>
      {onView && (
        <Button size="sm" variant="ghost" icon={SplitSquareHorizontal} aria-label={SWAP.compareWithSlider(name)} onClick={onView}>
          {SWAP.compare}
        </Button>
      )}
    </div>
    <div className="grid grid-cols-2 gap-3">
      <SidePart side={before} title={models.before} isChecked={isChecked} />
      <SidePart side={now} title={models.now} isChecked={isChecked} />
    </div>
  </article>
);
