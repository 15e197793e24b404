import { FILE_TYPE } from "../../canvas/kinds/roles";
import { NODE } from "../../canvas/geometry";
import { freePlace, type Rect } from "../../canvas/rects";
import { messageOf } from "../../api/client";
import { MAX_UPLOAD_BYTES, uploadFile } from "../../api/files";
import { addNode, freeId, type Point } from "../../document/edit";
import { nodesOf, type DocGraph } from "../../document/graph";
import { bytes } from "../../ui/format";
import { complain, say } from "../../ui/overlays/toast";
import { graphOf, roomsOf } from "../chosen";
import type { Editor } from "../context";
import { FILES } from "../../messages/editor/commands";

/** A library file to add as a node. */
export interface LibraryFile {
  id: string;
  name?: string | undefined;
}

/** Drag data type of library files. */
export const LIBRARY_DRAG = "application/x-nodeloom-media";

const MOST_FILES = 20;
const SIZE = { width: NODE.width, height: 330 };
const LABEL = 80;

/** Adds file nodes side by side at free positions. */
export const addFileNodes = (editor: Editor, files: readonly LibraryFile[], at: Point): void => {
  const takenRects: Rect[] = [...roomsOf(editor, nodesOf(graphOf(editor))).values()];
  const ids: string[] = [];
  const add = (graph: DocGraph, { id: mediaId, name }: LibraryFile, index: number): DocGraph => {
    const id = freeId(graph, "file");
    const place = freePlace({ x: at.x + index * (SIZE.width + 40), y: at.y }, SIZE, takenRects);
    takenRects.push({ ...place, ...SIZE });
    ids.push(id);
    return addNode(graph, { id, type: FILE_TYPE, at: place, data: { mediaId, ...(name ? { label: name.slice(0, LABEL) } : {}) } });
  };
  const next = files.reduce(add, graphOf(editor));
  editor.document.change(files.length === 1 ? FILES.addAFile : FILES.addFiles(files.length), () => next, { select: ids });
  editor.ui.setState({ panel: "node", reveal: ids[0] });
};

/** Browsers know no content type for GLB files. */
const isMedia = ({ type, name }: File): boolean => /^(image|video|audio|model)\//.test(type) || /\.glb$/i.test(name);

/** Uploads files and adds a node for each. */
export const uploadToCanvas = async (editor: Editor, dropped: readonly File[], at: Point): Promise<void> => {
  const files = dropped.filter(isMedia).slice(0, MOST_FILES);
  if (files.length === 0) return complain(FILES.wrongFileType);
  const large = files.find(({ size }) => size > MAX_UPLOAD_BYTES);
  if (large) return complain(FILES.fileTooLarge(large.name, bytes(large.size), bytes(MAX_UPLOAD_BYTES)));
  say(files.length === 1 ? FILES.uploading(files[0]!.name) : FILES.uploadingFiles(files.length));
  const uploaded: LibraryFile[] = [];
  for (const file of files)
    try {
      uploaded.push({ id: (await uploadFile(file)).id, name: nameOf(file) });
    } catch (error) {
      complain(FILES.couldntUpload(file.name, messageOf(error)));
    }
  if (uploaded.length > 0) addFileNodes(editor, uploaded, at);
};

/** File name without its extension; pasted pictures have no name. */
const nameOf = ({ name }: File): string | undefined => {
  const plain = name.replace(/\.[a-z0-9]{1,5}$/i, "");
  return plain === "" || plain === "image" ? undefined : plain;
};
