import { ChevronLeft, ChevronRight, Repeat } from "lucide-react";
import { useRef, useState, type PointerEvent } from "react";
import { IconButton } from "../../ui/button";
import { isOwnMedia, unsigned } from "../url";
import { classes } from "../../ui/classes";
import { MaskView } from "../mask-view";
import { MediaView } from "../media-view";
import { OutputThumb } from "../output-thumb";
import { Video } from "../video";
import { FullPicture } from "./full-picture";
import type { Zoom } from "./picture";
import { Sound } from "./sound";
import type { ViewerItem, ViewerSet } from "./store";
import { VideoClip, type ClipTools } from "./video-clip";
import { STAGE } from "../../messages/media";

const clipTools = ({ loop, setLoop, stepBy }: ClipTools) => (
  <div className="viewer-bar" role="toolbar" aria-label={STAGE.clip}>
    <IconButton icon={ChevronLeft} size="sm" label={STAGE.previousFrame} onClick={() => stepBy(-1)} />
    <IconButton icon={ChevronRight} size="sm" label={STAGE.nextFrame} onClick={() => stepBy(1)} />
    <IconButton icon={Repeat} size="sm" label={STAGE.loop} active={loop} onClick={() => setLoop(!loop)} />
  </div>
);

/** Widest thumbnail, in device pixels. */
const FULL_WIDTH = 2_048;

/** One item in full size. */
export const One = ({ item, zoom, label = item.title }: { item: ViewerItem; zoom: Zoom; label?: string }) => {
  const { file, text } = item;
  if (file && isOwnMedia(file.url) && file.family === "image")
    return (
      <div className={classes("viewer-surface", zoom.view.zoom > 1 && "cursor-grab")} {...zoom.surface}>
        {file.isMask === true ? (
          <MaskView file={file} label={label} width={FULL_WIDTH} whole className="size-full" style={zoom.style} />
        ) : (
          <FullPicture url={file.url} label={label} style={zoom.style} />
        )}
      </div>
    );
  if (file && isOwnMedia(file.url) && file.family === "video")
    return <VideoClip key={unsigned(file.url)} url={file.url} label={label} tools={clipTools} />;
  if (file && isOwnMedia(file.url) && file.family === "audio") return <Sound key={unsigned(file.url)} url={file.url} label={label} />;
  if (file?.family === "model3d") return <MediaView file={file} label={label} className="size-full" />;
  if (file) return <MediaView file={file} label={label} />;
  return (
    <div tabIndex={0} role="region" aria-label={label} dir="auto" className="viewer-text">
      {text}
    </div>
  );
};

/** One of two compared items, which share a zoom. */
const Layer = ({ item, zoom, label }: { item: ViewerItem; zoom: Zoom; label: string }) => {
  if (item.file?.family === "video" && isOwnMedia(item.file.url))
    return <Video way="moving" url={item.file.url} label={label} className="size-full object-contain" style={zoom.style} />;
  if (item.file?.family === "image" && isOwnMedia(item.file.url))
    return <FullPicture url={item.file.url} label={label} style={zoom.style} />;
  return <One item={item} zoom={zoom} label={label} />;
};

const HALF = 50;

/** A over B with a movable divider. */
export const Slider = ({ a, b, zoom }: { a: ViewerItem; b: ViewerItem; zoom: Zoom }) => {
  const [at, setAt] = useState(HALF);
  const surface = useRef<HTMLDivElement>(null);
  const grab = {
    onPointerDown: (event: PointerEvent) => {
      // Without this, the zoomed picture would also move.
      event.stopPropagation();
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => {
      if (!event.currentTarget.hasPointerCapture(event.pointerId) || !surface.current) return;
      const { left, width } = surface.current.getBoundingClientRect();
      setAt(Math.min(100, Math.max(0, ((event.clientX - left) / width) * 100)));
    },
  };
  return (
    <div className="flex size-full flex-col gap-2">
      <div ref={surface} className="viewer-surface relative min-h-0 flex-1" {...zoom.surface}>
        <div className="absolute inset-0">
          <Layer item={b} zoom={zoom} label={STAGE.b(b.title)} />
        </div>
        <div className="absolute inset-0" style={{ clipPath: `inset(0 ${100 - at}% 0 0)` }}>
          <Layer item={a} zoom={zoom} label={STAGE.a(a.title)} />
        </div>
        <span className="viewer-line" style={{ left: `${at}%` }} aria-hidden {...grab} />
        <span className="viewer-letter left-3">{STAGE.sideA}</span>
        <span className="viewer-letter right-3">{STAGE.sideB}</span>
      </div>
      <input
        type="range"
        min={0}
        max={100}
        step={0.5}
        value={at}
        aria-label={STAGE.shareOfA}
        className="mx-auto w-full max-w-xl accent-(--on-media)"
        onChange={(event) => setAt(Number(event.target.value))}
      />
    </div>
  );
};

/** Difference of A and B: black if equal, and brighter the more they differ. */
export const Difference = ({ a, b, zoom }: { a: ViewerItem; b: ViewerItem; zoom: Zoom }) => (
  <div className="viewer-surface relative isolate size-full bg-black" {...zoom.surface}>
    <div className="absolute inset-0">
      <Layer item={b} zoom={zoom} label={STAGE.b(b.title)} />
    </div>
    <div className="absolute inset-0 mix-blend-difference">
      <Layer item={a} zoom={zoom} label={STAGE.a(a.title)} />
    </div>
  </div>
);

export const SideBySide = ({ a, b, zoom }: { a: ViewerItem; b: ViewerItem; zoom: Zoom }) => (
  <div className="grid size-full grid-cols-2 gap-2 max-md:grid-cols-1 max-md:grid-rows-2">
    {[["A", a] as const, ["B", b] as const].map(([letter, item]) => (
      <div key={letter} className="viewer-surface relative min-h-0" {...zoom.surface}>
        <Layer item={item} zoom={zoom} label={`${letter}: ${item.title}`} />
        <span className="viewer-letter left-3">{letter}</span>
      </div>
    ))}
  </div>
);

/** All items by run. */
export const Sheet = ({ sets, onChoose }: { sets: readonly ViewerSet[]; onChoose: (set: number, index: number) => void }) => (
  <div className="size-full overflow-y-auto p-2" tabIndex={0} role="region" aria-label={STAGE.contactSheet}>
    {sets.map((one, set) => (
      <section key={one.id} aria-label={one.title} className="mb-5">
        <h3 className="mb-2 text-xs text-(--on-media)/70">{one.title}</h3>
        <ul className="grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-2">
          {one.items.map((item, index) => (
            <li key={item.id}>
              <button
                type="button"
                aria-label={STAGE.view(item.title)}
                className="aspect-square w-full overflow-hidden rounded-lg bg-(--on-media)/8 hover:outline-2 hover:outline-(--on-media)"
                onClick={() => onChoose(set, index)}
              >
                <OutputThumb file={item.file} text={item.text} label="" width={300} className="size-full" />
              </button>
            </li>
          ))}
        </ul>
      </section>
    ))}
  </div>
);
