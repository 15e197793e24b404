import { Expand, LoaderCircle, TriangleAlert } from "lucide-react";
import { Suspense, useState, type ReactNode } from "react";
import { NODE, type Box } from "../../../canvas/geometry";
import type { DocNode } from "../../../document/graph";
import { MediaView } from "../../../media/media-view";
import { Thumb } from "../../../media/thumb";
import { IconButton } from "../../../ui/button";
import { classes } from "../../../ui/classes";
import { ago, creditNumber } from "../../../ui/format";
import { viewNode } from "../../commands/view-node";
import { useEditor } from "../../context";
import { NodeAwaited, NodeMask, NodeSizes } from "../../panels/lazy-panels";
import type { AwaitedProps } from "./node-awaited";
import type { NodeRunView } from "../../scene/shown";
import type { ShownItem } from "../../scene/shown-items";
import { NODE_MEDIA } from "../../../messages/editor/board";

type Floor = NonNullable<Box["floor"]>;
const PIXELS = typeof devicePixelRatio === "number" ? devicePixelRatio : 1;

/** An awaited output, over its unfinished picture or the one of an earlier run. */
const Waiting = (props: AwaitedProps) => (
  <span className="relative flex size-full items-center justify-center text-muted">
    <Suspense fallback={null}>
      <NodeAwaited {...props} />
    </Suspense>
    <LoaderCircle className="relative size-6 animate-spin" aria-label={NODE_MEDIA.running} role="img" />
  </span>
);

const Failed = ({ message }: { message: string | undefined }) => (
  <span className="flex size-full flex-col items-center justify-center gap-1 p-3 text-center text-xs text-muted">
    <TriangleAlert className="size-5 text-bad" aria-hidden />
    <span className="line-clamp-3 wrap-anywhere">{message ?? NODE_MEDIA.noResultOfItem}</span>
  </span>
);

interface ItemProps {
  nodeId: string;
  item: ShownItem;
  label: string;
  width: number;
  mask: ReactNode;
}

/** One output in full size. */
const Item = ({ nodeId, item, label, width, mask }: ItemProps) => {
  if (item.file?.isMask === true) return mask;
  if (item.file?.family === "model3d") return <MediaView file={item.file} label={label} className="nodrag nowheel size-full" />;
  if (item.file?.family === "audio") return <MediaView file={item.file} label={label} className="w-full" />;
  if (item.file) return <Thumb file={item.file} label={label} width={width * PIXELS} className="size-full" fitsWhole />;
  if (item.text !== undefined)
    return (
      <p dir="auto" className="size-full overflow-hidden px-3 py-2 text-xs leading-[18px] whitespace-pre-wrap text-text wrap-anywhere">
        {item.text}
      </p>
    );
  return item.status === "processing" ? <Waiting nodeId={nodeId} item={item} pixels={width * PIXELS} /> : <Failed message={item.error} />;
};

/** Caption with position among the outputs, cost and age. */
const captionOf = ({ items, at, isEarlier, isOutdated }: NodeRunView, index: number): string => {
  const { creditsCost } = items[index]!;
  return [
    items.length > 1 ? NODE_MEDIA.of(index + 1, items.length) : undefined,
    // The footer shows the cost of a single item.
    items.length > 1 && creditsCost > 0 ? NODE_MEDIA.creditsShort(creditNumber(creditsCost)) : undefined,
    isEarlier && at !== null ? NODE_MEDIA.from(ago(at)) : undefined,
    isOutdated ? NODE_MEDIA.beforeYourLastChange : undefined,
  ]
    .filter(Boolean)
    .join(" · ");
};

const STRIP_WIDTH = 40;

interface StripProps {
  items: readonly ShownItem[];
  chosen: number;
  onChoose: (index: number) => void;
  maskAt: (at: number, label: string, width: number) => ReactNode;
}

const Strip = ({ items, chosen, onChoose, maskAt }: StripProps) => (
  <ol className="node-strip nowheel nodrag" style={{ height: NODE.strip }} aria-label={NODE_MEDIA.allResults}>
    {items.map((item, index) => (
      <li key={`${item.item} ${index}`} className="shrink-0">
        <button
          type="button"
          tabIndex={-1}
          aria-pressed={index === chosen}
          aria-label={NODE_MEDIA.item(index + 1, item.status, item.creditsCost > 0 ? creditNumber(item.creditsCost) : "")}
          className={classes("node-strip-item", index === chosen && "node-strip-chosen", item.status === "failed" && "node-strip-failed")}
          onClick={() => onChoose(index)}
        >
          {item.status === "processing" ? (
            <LoaderCircle className="size-4 animate-spin text-muted" aria-hidden />
          ) : item.file?.isMask === true ? (
            maskAt(index, "", STRIP_WIDTH)
          ) : item.status === "completed" ? (
            <Thumb file={item.file} text={item.text} label="" width={STRIP_WIDTH * PIXELS} className="size-full" />
          ) : (
            <TriangleAlert className="size-4 text-bad" aria-hidden />
          )}
          <span className="node-strip-number">{index + 1}</span>
        </button>
      </li>
    ))}
  </ol>
);

/** Outputs of a node below its ports: one large, all in a strip. */
export const NodeMedia = ({
  node,
  view,
  floor,
  width,
  title,
  writing,
}: {
  node: DocNode;
  view: NodeRunView;
  floor: Floor;
  width: number;
  title: string;
  writing: string | undefined;
}) => {
  const editor = useEditor();
  const [choice, setChoice] = useState<{ of: string | undefined; index: number }>();
  const { items, executionId } = view;
  const newest = items.findLastIndex(({ status }) => status !== "processing");
  const chosenIndex =
    choice !== undefined && choice.of === executionId && choice.index < items.length
      ? choice.index
      : Math.max(0, view.progress?.status === "processing" ? newest : 0);
  const item = items[chosenIndex];
  if (!item) return null;
  const caption = captionOf(view, chosenIndex);
  const maskAt = (at: number, label: string, across: number): ReactNode => (
    <Suspense fallback={null}>
      <NodeMask nodeId={node.id} items={items} at={at} label={label} width={across * PIXELS} whole={label !== ""} />
    </Suspense>
  );
  const open = (): void => viewNode(editor, node.id, chosenIndex);
  return (
    <div
      className={classes("node-floor", floor.preview === "text" && "node-floor-text", view.isOutdated && "node-floor-old")}
      style={{ top: floor.top, height: floor.height }}
    >
      <div className={classes("node-stage", item.file?.family === "audio" && "nodrag node-stage-sound")} onDoubleClick={open}>
        <Item
          nodeId={node.id}
          item={item.status === "processing" && item.item === 0 && writing !== undefined ? { ...item, text: writing } : item}
          label={NODE_MEDIA.itemOf(title, chosenIndex + 1, items.length)}
          width={width}
          mask={maskAt(chosenIndex, NODE_MEDIA.itemOf(title, chosenIndex + 1, items.length), width)}
        />
        {caption !== "" && <span className="node-caption">{caption}</span>}
        <span className="node-tools nodrag">
          <Suspense fallback={null}>
            <NodeSizes node={node} />
          </Suspense>
          {item.status === "completed" && (
            <IconButton icon={Expand} size="sm" label={NODE_MEDIA.viewFullSize} className="node-tool" tabIndex={-1} onClick={open} />
          )}
        </span>
      </div>
      {floor.hasStrip && (
        <Strip items={items} chosen={chosenIndex} maskAt={maskAt} onChoose={(index) => setChoice({ of: executionId, index })} />
      )}
    </div>
  );
};
