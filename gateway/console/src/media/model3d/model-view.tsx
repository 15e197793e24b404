import { Box, RotateCcw } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { renewed } from "../../api/files";
import { readFile } from "../../api/read-file";
import { MODEL_VIEW } from "../../messages/model-view";
import { IconButton } from "../../ui/button";
import { classes } from "../../ui/classes";
import { NoWebGl, openStage, type Stage } from "./stage";

type State = "loading" | "shown" | "unreadable" | "unsupported";

/** @throws Error if the file can't be read */
const bytesAt = async (url: string): Promise<ArrayBuffer> => {
  const response = await readFile(url).catch(async () => readFile(await renewed(url)));
  return response.arrayBuffer();
};

/** A 3D model to turn. A new signature of its address doesn't load it again. */
export const ModelView = ({ url, label, className }: { url: string; label: string; className: string }) => {
  const [address] = useState(url);
  const [state, setState] = useState<State>("loading");
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<Stage>(undefined);
  useEffect(() => {
    let isOver = false;
    const show = async (): Promise<State> => {
      const bytes = await bytesAt(address);
      if (isOver || !canvas.current) return "loading";
      const opened = await openStage(canvas.current, bytes);
      // The view can be closed while the file is read.
      if (isOver as boolean) opened.close();
      else stage.current = opened;
      return "shown";
    };
    show()
      .catch((error: unknown): State => (error instanceof NoWebGl ? "unsupported" : "unreadable"))
      .then((next) => !isOver && setState(next))
      .catch(() => undefined);
    return () => {
      isOver = true;
      stage.current?.close();
      stage.current = undefined;
    };
  }, [address]);
  return (
    <div className={classes("group relative aspect-square min-h-0", className)} data-model3d={state}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={MODEL_VIEW.label(label)}
        tabIndex={state === "shown" ? 0 : -1}
        className="absolute inset-0 size-full cursor-grab active:cursor-grabbing"
      />
      {state === "shown" ? (
        <IconButton
          icon={RotateCcw}
          size="sm"
          label={MODEL_VIEW.reset}
          className="absolute! right-1 bottom-1 bg-surface/85! opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
          onClick={() => stage.current?.reset()}
        />
      ) : (
        <span className="absolute inset-0 flex flex-col items-center justify-center gap-2 p-3 text-center text-xs text-faint" role="status">
          <Box className="size-8 text-(--port-model3d)" aria-hidden />
          {MODEL_VIEW[state]}
        </span>
      )}
    </div>
  );
};
