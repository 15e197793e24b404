import { NODE_MEDIA } from "../../../messages/editor/board";
import { Thumb } from "../../../media/thumb";
import { useLive } from "../../../runs/live";
import { useEditor } from "../../context";
import type { ShownItem } from "../../scene/shown-items";

export interface AwaitedProps {
  nodeId: string;
  item: ShownItem;
  /** Width in device pixels. */
  pixels: number;
}

/** The unfinished picture of an awaited output, if its provider sends one. Until then, the dimmed picture of an earlier run. */
export const NodeAwaited = ({ nodeId, item: { item, earlier }, pixels }: AwaitedProps) => {
  const { slug } = useEditor();
  const image = useLive(({ runs }) => runs[slug]?.previews.get(`${nodeId}:${item}`)?.image);
  if (image !== undefined)
    return <img src={image} alt={NODE_MEDIA.unfinished} draggable={false} className="absolute inset-0 size-full object-contain" />;
  if (earlier === undefined || earlier.family === "audio") return null;
  return (
    <span className="node-awaited absolute inset-0 flex items-center justify-center opacity-35 saturate-50" aria-hidden>
      <Thumb file={earlier} label="" width={pixels} className="size-full" fitsWhole />
    </span>
  );
};
