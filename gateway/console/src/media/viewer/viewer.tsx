import {
  ChevronLeft,
  ChevronRight,
  Columns2,
  Diff,
  Copy,
  Download,
  FileArchive,
  Grid2x2,
  Info,
  SplitSquareHorizontal,
  Square,
  SquarePlus,
  X,
  ZoomIn,
  ZoomOut,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { IconButton } from "../../ui/button";
import { classes } from "../../ui/classes";
import { TipHome } from "../../ui/overlays/tip";
import { complain, say, Toaster } from "../../ui/overlays/toast";
import { OutputThumb } from "../output-thumb";
import { downloadAll, downloadItem } from "./download";
import { useZoom } from "./picture";
import { Difference, One, Sheet, SideBySide, Slider } from "./stage";
import { ComparedFacts, Facts } from "./facts";
import { closeViewer, counterpart, inRun, step, useViewer, type ViewerItem } from "./store";
import { COMMON } from "../../messages/common";
import { STAGE, VIEWER } from "../../messages/media";

type Mode = "one" | "slider" | "beside" | "difference" | "sheet";
const MODES: readonly (readonly [Mode, string, LucideIcon])[] = [
  ["one", VIEWER.single, Square],
  ["slider", VIEWER.compareWithSlider, SplitSquareHorizontal],
  ["beside", VIEWER.sideBySide, Columns2],
  ["difference", VIEWER.difference, Diff],
  ["sheet", VIEWER.contactSheet, Grid2x2],
];
const NARROW = "(max-width: 767px)";

const copyRecipe = ({ prompt, seed }: ViewerItem): void => {
  const text = [prompt, seed === undefined ? undefined : `seed: ${seed}`].filter(Boolean).join("\n");
  navigator.clipboard.writeText(text).then(
    () => say(seed === undefined ? VIEWER.promptCopied : VIEWER.copied),
    () => complain(VIEWER.copyBlocked),
  );
};

const Strip = ({ items, chosen, onChoose }: { items: readonly ViewerItem[]; chosen: number; onChoose: (index: number) => void }) => (
  <ol className="viewer-strip" aria-label={VIEWER.itemsOfThisRun}>
    {items.map((item, index) => (
      <li key={item.id} className="shrink-0">
        <button
          type="button"
          aria-label={item.title}
          aria-current={index === chosen}
          className={classes("size-14 overflow-hidden rounded-lg bg-(--on-media)/10", index === chosen && "outline-2 outline-(--on-media)")}
          onClick={() => onChoose(index)}
        >
          <OutputThumb file={item.file} text={item.text} label="" width={120} className="size-full" />
        </button>
      </li>
    ))}
  </ol>
);

/** All outputs in full size: browse items and runs, compare, download, reuse. */
export const ViewerDialog = () => {
  const { sets, set, index, compares: beginsWithComparison, use } = useViewer();
  const ref = useRef<HTMLDialogElement>(null);
  const [mode, setMode] = useState<Mode>(beginsWithComparison ? "slider" : "one");
  const [against, setAgainst] = useState<{ set: number; index: number }>();
  const [side, setSide] = useState<"A" | "B">("B");
  const [info, setInfo] = useState(() => !matchMedia(NARROW).matches);
  const zoom = useZoom();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) {
      dialog.showModal();
      // The viewer's keys work at once, and no tooltip covers the item.
      dialog.querySelector<HTMLElement>("[data-first]")?.focus();
    }
    return () => dialog?.close();
  }, []);
  const current = sets[set];
  const item = current?.items[index];
  if (!current || !item) return null;
  const compares = mode === "slider" || mode === "beside" || mode === "difference";
  const other = against ?? counterpart({ sets, set, index });
  const moved = compares && side === "B" ? { sets, ...other } : { sets, set, index };
  const b = sets[other.set]?.items[other.index] ?? item;
  const go = (to: { set: number; index: number }): void => {
    zoom.reset();
    if (compares && side === "B") setAgainst(to);
    else useViewer.setState(to);
  };
  const choose = (next: Mode): void => {
    zoom.reset();
    setMode(next);
  };
  const onKey = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.target instanceof HTMLElement && event.target.matches("video, audio, input")) return;
    const act = {
      ArrowRight: () => go(step(moved, 1)),
      ArrowLeft: () => go(step(moved, -1)),
      ArrowDown: () => go(inRun(moved, 1)),
      ArrowUp: () => go(inRun(moved, -1)),
      "+": zoom.zoomIn,
      "=": zoom.zoomIn,
      "-": zoom.zoomOut,
      "0": zoom.reset,
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  const shownSet = sets[moved.set] ?? current;
  return (
    <dialog
      ref={ref}
      aria-label={VIEWER.viewing(item.title)}
      className="viewer"
      onKeyDown={onKey}
      onCancel={(event) => {
        event.preventDefault();
        closeViewer();
      }}
      onClose={closeViewer}
    >
      <TipHome value={ref}>
        <div className="flex size-full flex-col outline-none" tabIndex={-1} data-first>
          <header className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
            <div className="min-w-0 flex-1">
              <h2 className="truncate text-sm font-semibold">{item.title}</h2>
              <p className="truncate text-xs text-(--on-media)/65" aria-live="polite">
                {VIEWER.of(index + 1, current.items.length, current.title)}
                {sets.length > 1 && VIEWER.runOf(set + 1, sets.length)}
              </p>
            </div>
            <div className="viewer-bar" role="toolbar" aria-label={VIEWER.viewMode}>
              {MODES.map(([name, label, icon]) => (
                <IconButton key={name} icon={icon} size="sm" label={label} active={mode === name} onClick={() => choose(name)} />
              ))}
            </div>
            <div className="viewer-bar" role="toolbar" aria-label={COMMON.actions}>
              <IconButton icon={ZoomOut} size="sm" label={VIEWER.zoomOut} keys="-" onClick={zoom.zoomOut} />
              <IconButton icon={ZoomIn} size="sm" label={VIEWER.zoomIn} keys="+" onClick={zoom.zoomIn} />
              {item.prompt !== undefined && (
                <IconButton icon={Copy} size="sm" label={VIEWER.copyPromptAndSeed} onClick={() => copyRecipe(item)} />
              )}
              {use && item.file && <IconButton icon={SquarePlus} size="sm" label={VIEWER.useAsInput} onClick={() => use(item)} />}
              <IconButton icon={Download} size="sm" label={COMMON.download} onClick={() => void downloadItem(item)} />
              {current.items.length > 1 && (
                <IconButton
                  icon={FileArchive}
                  size="sm"
                  label={VIEWER.downloadAllAsZip}
                  onClick={() => void downloadAll(current.items, current.title)}
                />
              )}
              <IconButton icon={Info} size="sm" label={VIEWER.settings} active={info} onClick={() => setInfo(!info)} />
              <IconButton icon={X} size="sm" label={COMMON.close} keys="Escape" onClick={closeViewer} />
            </div>
          </header>
          <div className="flex min-h-0 flex-1 max-md:flex-col">
            <div className="relative flex min-h-0 min-w-0 flex-1 items-center justify-center px-2">
              {mode === "one" && <One key={item.id} item={item} zoom={zoom} />}
              {mode === "slider" && <Slider a={item} b={b} zoom={zoom} />}
              {mode === "beside" && <SideBySide a={item} b={b} zoom={zoom} />}
              {mode === "difference" &&
                (b.id === item.id ? <p className="text-sm">{STAGE.sameItem}</p> : <Difference a={item} b={b} zoom={zoom} />)}
              {mode === "sheet" && (
                <Sheet
                  sets={sets}
                  onChoose={(toSet, toIndex) => {
                    useViewer.setState({ set: toSet, index: toIndex });
                    choose("one");
                  }}
                />
              )}
              {mode !== "sheet" && (
                <>
                  <button type="button" aria-label={VIEWER.previous} className="viewer-arrow left-2" onClick={() => go(step(moved, -1))}>
                    <ChevronLeft className="size-6" aria-hidden />
                  </button>
                  <button type="button" aria-label={COMMON.next} className="viewer-arrow right-2" onClick={() => go(step(moved, 1))}>
                    <ChevronRight className="size-6" aria-hidden />
                  </button>
                </>
              )}
            </div>
            {info && mode === "one" && <Facts item={item} />}
            {info && compares && <ComparedFacts a={item} b={b} />}
          </div>
          {mode !== "sheet" && (
            <footer className="flex items-center gap-3 px-3 py-2">
              {compares && (
                <div className="viewer-bar" role="radiogroup" aria-label={VIEWER.appliesToBothSides}>
                  {(["A", "B"] as const).map((letter) => (
                    <button
                      key={letter}
                      type="button"
                      role="radio"
                      aria-checked={side === letter}
                      className={classes("size-7 rounded-md text-xs font-semibold", side === letter && "bg-(--on-media)/25")}
                      onClick={() => setSide(letter)}
                    >
                      {letter}
                    </button>
                  ))}
                </div>
              )}
              <Strip items={shownSet.items} chosen={moved.index} onChoose={(to) => go({ set: moved.set, index: to })} />
            </footer>
          )}
        </div>
        <Toaster />
      </TipHome>
    </dialog>
  );
};
