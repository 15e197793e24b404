import { Image as ImageIcon } from "lucide-react";
import type { CSSProperties, ReactNode } from "react";
import { PortMark } from "../../canvas/port-mark";
import { sampleMedia } from "./sample-media";

/** Three designs of a node with outputs at three zooms; docs/design/console.md explains the choice. */
const COLOUR: CSSProperties = { "--kind": "var(--port-image)" } as CSSProperties;

const Ports = () => (
  <div className="flex items-center justify-between px-2 py-1 text-xs text-muted">
    <span className="-ml-4 flex items-center gap-1.5">
      <PortMark type="text" /> prompt
    </span>
    <span className="-mr-4 flex items-center gap-1.5">
      image <PortMark type="image" />
    </span>
  </div>
);
const Title = () => (
  <span className="flex items-center gap-2 text-[13px] font-semibold">
    <ImageIcon className="size-4" aria-hidden /> Stills
  </span>
);
const Picture = ({ at = 0, className = "" }: { at?: number; className?: string }) => (
  <img src={sampleMedia(at)} alt="" className={`w-full object-cover ${className}`} />
);
const Strip = () => (
  <div className="flex gap-1 p-1">
    {[0, 1, 2].map((at) => (
      <img key={at} src={sampleMedia(at)} alt="" className="h-9 flex-1 rounded-md object-cover" />
    ))}
  </div>
);

/** A coloured line on the left, and outputs in a box. */
const Spine = () => (
  <div className="w-60 rounded-xl border bg-(--node) shadow-panel" style={{ ...COLOUR, borderLeft: "4px solid var(--kind)" }}>
    <div className="px-3 py-2">
      <Title />
    </div>
    <Ports />
    <div className="m-2 overflow-hidden rounded-lg">
      <Picture className="h-32" />
    </div>
  </div>
);

/** Outputs first, with the name above; ports move when outputs arrive. */
const MediaFirst = () => (
  <div className="w-60 overflow-visible rounded-xl border bg-(--node) shadow-panel" style={COLOUR}>
    <div className="relative overflow-hidden rounded-t-xl">
      <Picture className="h-36" />
      <div className="absolute inset-x-0 bottom-0 bg-black/60 px-3 py-1.5 text-white">
        <Title />
      </div>
    </div>
    <Ports />
    <Strip />
  </div>
);

/** A coloured head, fixed ports, and outputs from edge to edge below. */
const Headed = () => (
  <div className="w-60 rounded-xl border border-(--node-line) bg-(--node) shadow-panel" style={COLOUR}>
    <div
      className="rounded-t-[11px] px-3 py-2"
      style={{ background: "color-mix(in oklab, var(--kind) 16%, var(--node))", borderTop: "3px solid var(--kind)" }}
    >
      <Title />
    </div>
    <Ports />
    <div className="overflow-hidden rounded-b-[11px] bg-(--media)">
      <Picture className="h-32" />
      <Strip />
    </div>
  </div>
);

const ZOOMS = [1, 0.5, 0.25] as const;
const NAMES: readonly (readonly [string, ReactNode])[] = [
  ["A · spine", <Spine key="a" />],
  ["B · media first", <MediaFirst key="b" />],
  ["C · head and floor (chosen)", <Headed key="c" />],
];

export const NodeAlternatives = () => (
  <div className="grid gap-6 rounded-xl bg-board p-5 lg:grid-cols-3">
    {NAMES.map(([name, node]) => (
      <section key={name} aria-label={name}>
        <h3 className="mb-3 text-xs font-semibold text-muted">{name}</h3>
        <div className="flex flex-wrap items-start gap-4">
          {ZOOMS.map((zoom) => (
            <div key={zoom} style={{ zoom }}>
              {node}
            </div>
          ))}
        </div>
      </section>
    ))}
  </div>
);
