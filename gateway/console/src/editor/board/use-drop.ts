import { useReactFlow } from "@xyflow/react";
import type { DragEvent } from "react";
import { addFileNodes, LIBRARY_DRAG, uploadToCanvas, type LibraryFile } from "../commands/files";
import { embeddedWorkflow, pasteText } from "../commands/paste";
import type { Point } from "../../document/edit";
import { say } from "../../ui/overlays/toast";
import { useEditor, type Editor } from "../context";
import { COMMON } from "../../messages/common";
import { USE_DROP } from "../../messages/editor/board";

const isFile = (value: unknown): value is LibraryFile => typeof (value as LibraryFile | null)?.id === "string";

const libraryFiles = (text: string): LibraryFile[] => {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isFile) : [];
  } catch {
    return [];
  }
};

const isGraph = ({ type, name }: File): boolean => type === "application/json" || name.endsWith(".json");

/** Pastes dropped graphs, including those in ComfyUI pictures, and uploads all other files. */
const dropFiles = async (editor: Editor, files: readonly File[], at: Point): Promise<void> => {
  const media: File[] = [];
  for (const file of files) {
    const text = isGraph(file) ? await file.text() : await embeddedWorkflow(file);
    if (text === undefined) media.push(file);
    else if ((await pasteText(editor, text, at)) && !isGraph(file))
      say(USE_DROP.comfyUIWorkflowAdded(file.name), {
        label: USE_DROP.addTheImage,
        run: () => void uploadToCanvas(editor, [file], at),
      });
    else if (!isGraph(file)) media.push(file);
  }
  if (media.length > 0) await uploadToCanvas(editor, media, at);
};

/** Turns files dropped on the canvas into nodes. */
export const useDrop = () => {
  const editor = useEditor();
  const { screenToFlowPosition } = useReactFlow();
  return {
    onDragOver: (event: DragEvent): void => {
      const { types } = event.dataTransfer;
      if (!types.includes(COMMON.files) && !types.includes(LIBRARY_DRAG)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
    },
    onDrop: (event: DragEvent): void => {
      const { files } = event.dataTransfer;
      const listed = libraryFiles(event.dataTransfer.getData(LIBRARY_DRAG) || "[]");
      if (files.length + listed.length === 0) return;
      event.preventDefault();
      const at = screenToFlowPosition({ x: event.clientX, y: event.clientY });
      if (listed.length > 0) addFileNodes(editor, listed, at);
      else void dropFiles(editor, [...files], at);
    },
  };
};
