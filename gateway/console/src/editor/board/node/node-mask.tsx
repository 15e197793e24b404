import { useMemo } from "react";
import { MaskView } from "../../../media/mask-view";
import { useDocument, useScene } from "../../context";
import { filesShown, withPictures } from "../../scene/masked";
import type { ShownItem } from "../../scene/shown-items";

interface NodeMaskProps {
  nodeId: string;
  /** All outputs of the node, and which of them is shown. */
  items: readonly ShownItem[];
  at: number;
  label: string;
  width: number;
  whole?: boolean;
}

/** A mask of a node over the picture that the node received. */
export const NodeMask = ({ nodeId, items, at, ...rest }: NodeMaskProps) => {
  const graph = useDocument((state) => state.graph);
  const shownNodes = useScene((state) => state.nodeViews);
  const file = useMemo(() => withPictures(graph, filesShown(shownNodes), nodeId, items)[at]?.file, [graph, shownNodes, nodeId, items, at]);
  return file && <MaskView file={file} className="size-full" {...rest} />;
};
