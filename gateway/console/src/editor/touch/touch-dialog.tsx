import { isRecord, mediaOperation } from "@nodeloom/kernel/graph";
import { ChevronLeft, ChevronRight, ImageOff } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import "../../styles/touch.css";
import { setData } from "../../document/edit";
import type { DocNode } from "../../document/graph";
import type { OutputFile } from "../../media/files-in";
import { Button, IconButton } from "../../ui/button";
import { propertiesOf } from "../../ui/inputs/properties";
import { SchemaControl } from "../../ui/inputs/schema-control";
import { Dialog } from "../../ui/overlays/dialog";
import { selectedNodes } from "../chosen";
import { useEditor } from "../context";
import { useWired } from "../inspector/use-setting";
import { titleIn } from "../titles";
import { COMMON } from "../../messages/common";
import { CLIP } from "../../messages/editor/clip";
import { TOUCH } from "../../messages/editor/touch";
import { CaptionsTool } from "./clip/captions-tool";
import { TrimTool } from "./clip/trim-tool";
import { ComposeTool } from "./compose-tool";
import { CropTool } from "./crop-tool";
import type { DragState } from "./handle-box";
import { MaskTool } from "./mask-tool";
import { usePicture, useReceived, type PictureState, type TouchedFamily } from "./received";
import { ResizeTool } from "./resize-tool";
import type { Settings } from "./settings";
import { TextTool } from "./text-tool";
import type { ToolProps } from "./tool";
import { editTitle, isTimed, touchedBy, type TouchOperation } from "./touchable";

interface Tool {
  view: (props: ToolProps) => ReactNode;
  /** Settings that the picture shows; a link to one of them leaves only the fields. */
  drawnSettings: readonly string[];
  /** Port of the file, and its family. */
  port?: "image" | "video" | "audio";
  /** Port of the second picture. */
  second?: string;
}

const TOOLS: Readonly<Record<TouchOperation, Tool>> = {
  "image-crop": { view: CropTool, drawnSettings: ["aspect", "width", "height", "x", "y", "position"] },
  "image-resize": { view: ResizeTool, drawnSettings: ["width", "height", "fit", "enlarge", "background"] },
  "image-composite": { view: ComposeTool, drawnSettings: ["x", "y", "width", "position", "margin", "opacity", "blend"], second: "overlay" },
  "image-text": { view: TextTool, drawnSettings: ["text", "position", "size", "colour", "background", "bold", "align", "margin"] },
  "mask-draw": { view: MaskTool, drawnSettings: ["shapes", "feather", "invert"] },
  "video-trim": { view: TrimTool, drawnSettings: ["start", "end", "seconds"], port: "video" },
  "audio-trim": { view: TrimTool, drawnSettings: ["start", "end", "seconds"], port: "audio" },
  "video-captions": {
    view: CaptionsTool,
    drawnSettings: ["words", "text", "grouping", "position", "size", "colour", "maxCharacters", "mode"],
    port: "video",
  },
};

const layout: ToolProps["layout"] = (surface, fields) => (
  <div className="touch-layout">
    {surface}
    <div className="flex min-w-0 flex-col gap-4">{fields}</div>
  </div>
);

const Empty = ({ title, hint }: { title: string; hint?: string }) => (
  <div className="touch-stage flex-col gap-2 p-6 text-center text-sm">
    <ImageOff className="size-6 text-faint" aria-hidden />
    <p className="font-medium">{title}</p>
    {hint !== undefined && <p className="text-muted">{hint}</p>}
  </div>
);

interface Selection {
  file: OutputFile | undefined;
  loaded: PictureState;
}

/** One of several pictures; the last one if there are fewer. */
const useChosen = (files: readonly OutputFile[], index: number, family: TouchedFamily): Selection => {
  const file = files[Math.min(index, files.length - 1)];
  return { file, loaded: usePicture(file?.url, family) };
};

const emptyFor = ({ file, loaded: { state } }: Selection, isOnTimeline: boolean): ReactNode => {
  if (!file) return <Empty title={isOnTimeline ? CLIP.noFile : TOUCH.noPicture} hint={TOUCH.noPictureHint} />;
  if (state === "loading") return <Empty title={isOnTimeline ? CLIP.loading : TOUCH.loading} />;
  if (isOnTimeline) return <Empty title={CLIP.unreadable} hint={CLIP.unreadableHint} />;
  return <Empty title={TOUCH.unreadable} hint={TOUCH.unreadableHint} />;
};

const Chooser = ({ index, count, onChoose }: { index: number; count: number; onChoose: (index: number) => void }) => (
  <div className="flex flex-wrap items-center gap-2 text-sm">
    <IconButton icon={ChevronLeft} label={TOUCH.previous} disabled={index === 0} onClick={() => onChoose(index - 1)} />
    <span className="tabular-nums">{TOUCH.pictureOf(index + 1, count)}</span>
    <IconButton icon={ChevronRight} label={TOUCH.next} disabled={index === count - 1} onClick={() => onChoose(index + 1)} />
    <span className="text-muted">{TOUCH.sameForAll(count)}</span>
  </div>
);

const inputsOf = ({ data }: DocNode): Settings => (isRecord(data.inputs) ? data.inputs : {});
const storedIn = (node: DocNode): Settings => ({ ...inputsOf(node), ...node.data });

/** Edits of settings until they are saved. */
const useDraft = (node: DocNode) => {
  const [changes, setChanges] = useState<Settings>({});
  return {
    changes,
    settings: { ...storedIn(node), ...changes },
    change: (next: Settings): void => setChanges((now) => ({ ...now, ...next })),
    restore: (): void => setChanges(changes),
  };
};

/** Saves all edits as one step of undo. */
const useSave = (node: DocNode, changes: Settings) => {
  const { document } = useEditor();
  return (): void => {
    const [stored, inputs] = [storedIn(node), inputsOf(node)];
    const edits = Object.entries(changes).filter(([name, value]) => stored[name] !== value);
    if (edits.length === 0) return;
    document.change(TOUCH.edit, (graph) =>
      edits.reduce((next, [name, value]) => {
        const set = setData(next, node.id, [name], value);
        return value === undefined && name in inputs ? setData(set, node.id, ["inputs", name], undefined) : set;
      }, graph),
    );
  };
};

const Editing = ({ node, operation, onClose }: { node: DocNode; operation: TouchOperation; onClose: () => void }) => {
  const editor = useEditor();
  const wired = useWired(node.id);
  const { view: View, drawnSettings, second, port = "image" } = TOOLS[operation];
  const files = useReceived(node, port, port);
  const [index, setIndex] = useState(0);
  const { file, loaded } = useChosen(files, index, port);
  const over = useChosen(useReceived(node, second ?? "", "image"), index, "image");
  const { changes, settings, change, restore } = useDraft(node);
  const save = useSave(node, changes);
  const [drag] = useState<DragState>(() => ({ cancel: undefined }));
  const form = useId();
  const properties = propertiesOf(mediaOperation(operation)?.schema).filter(([, { format }]) => format !== "media");
  const control: ToolProps["control"] = (name, own) => {
    const schema = properties.find(([one]) => one === name)?.[1];
    if (!schema || wired.has(name)) return null;
    const label = typeof schema.title === "string" ? schema.title : name;
    return (
      <SchemaControl
        key={name}
        name={name}
        label={label}
        schema={{ ...schema, ...own }}
        value={settings[name]}
        onChange={(value) => change({ [name]: value })}
      />
    );
  };
  const linked = drawnSettings.filter((name) => wired.has(name));
  const overlay = over.loaded.state === "ready" ? over.loaded.picture : undefined;
  const isOnPicture = loaded.state === "ready" && linked.length === 0 && (second === undefined || overlay !== undefined);
  return (
    <Dialog
      title={`${editTitle(operation)}: ${titleIn(editor, node)}`}
      width="full"
      onClose={onClose}
      mayClose={() => {
        const cancel = drag.cancel;
        cancel?.();
        return cancel === undefined;
      }}
      actions={
        <>
          <p className="mr-auto self-center text-xs text-faint max-md:hidden">{TOUCH.hint}</p>
          <Button onClick={onClose}>{TOUCH.cancel}</Button>
          <Button type="submit" form={form} variant="primary">
            {TOUCH.save}
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save();
          onClose();
        }}
      >
        {files.length > 1 && <Chooser index={Math.min(index, files.length - 1)} count={files.length} onChoose={setIndex} />}
        {isOnPicture ? (
          <View
            picture={loaded.picture}
            overlay={overlay}
            settings={settings}
            change={change}
            control={control}
            restore={restore}
            drag={drag}
            layout={layout}
          />
        ) : (
          layout(
            linked.length > 0 ? (
              <Empty title={TOUCH.wired(linked.join(", "))} />
            ) : (
              emptyFor(loaded.state === "ready" ? over : { file, loaded }, isTimed(operation))
            ),
            properties.map(([name]) => control(name)),
          )
        )}
      </form>
    </Dialog>
  );
};

/** The visual editor of one node; it writes the same settings as the node's form. */
export const TouchDialog = ({ onClose }: { onClose: () => void }) => {
  const editor = useEditor();
  const [node] = selectedNodes(editor);
  const operation = node && touchedBy(node);
  if (!node || !operation)
    return (
      <Dialog title={TOUCH.edit} onClose={onClose} actions={<Button onClick={onClose}>{COMMON.close}</Button>}>
        {TOUCH.nothingToTouch}
      </Dialog>
    );
  return <Editing key={node.id} node={node} operation={operation} onClose={onClose} />;
};
