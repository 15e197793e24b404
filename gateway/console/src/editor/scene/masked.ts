import { edgesOf, type DocGraph } from "../../document/graph";
import type { OutputFile } from "../../media/files-in";
import type { NodeRunView } from "./shown";
import type { ShownItem } from "./shown-items";

/** Files of a node's outputs, in order. */
export type FilesOf = (nodeId: string) => readonly OutputFile[];

/** Picture of the masks of a node: the nearest image that it, or a node of the masks that it received, received. */
const pictureOf = (graph: DocGraph, filesOf: FilesOf, nodeId: string, item: number): string | undefined => {
  const reachedIds = new Set([nodeId]);
  for (const id of reachedIds) {
    const sources = edgesOf(graph)
      .filter(({ target }) => target === id)
      .flatMap(({ source }) => {
        const files = filesOf(source);
        const file = files[item] ?? files[0];
        return file?.family === "image" ? [{ source, file }] : [];
      });
    const picture = sources.find(({ file }) => file.isMask !== true);
    if (picture) return picture.file.url;
    // A set is read in the order of its growth, so near nodes come first.
    for (const { source } of sources) reachedIds.add(source);
  }
  return undefined;
};

/** Outputs of a node; masks have the picture that they select a part of, if it is known. */
export const withPictures = <T extends Pick<ShownItem, "file">>(
  graph: DocGraph,
  filesOf: FilesOf,
  nodeId: string,
  items: readonly T[],
): readonly T[] =>
  items.map((item, at) =>
    item.file?.isMask === true ? { ...item, file: { ...item.file, over: pictureOf(graph, filesOf, nodeId, at) } } : item,
  );

export const filesShown =
  (shown: ReadonlyMap<string, NodeRunView>): FilesOf =>
  (nodeId) =>
    shown.get(nodeId)?.items.flatMap(({ file }) => file ?? []) ?? [];
