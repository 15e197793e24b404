import type { AppSettings } from "@nodeloom/client";
import { useEffect, useRef, useState } from "react";
import { APP_DIALOG } from "../../messages/editor/apps";

/** Heights of the frame in pixels, as `embed.js` sets them, but bounded by the dialog. */
const START_HEIGHT = 480;
const MAX_HEIGHT = 640;

/** The published app in a frame, as another site shows it. It is loaded again after its settings change. */
export const EmbedPreview = ({ slug, app }: { slug: string; app: AppSettings }) => {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(START_HEIGHT);
  useEffect(() => {
    const resize = ({ origin, source, data }: MessageEvent<{ type?: unknown; height?: unknown } | null>): void => {
      if (origin !== location.origin || source !== frame.current?.contentWindow || data?.type !== "nodeloom:height") return;
      const shownHeight = Math.ceil(Number(data.height));
      if (shownHeight > 0) setHeight(Math.min(shownHeight, MAX_HEIGHT));
    };
    addEventListener("message", resize);
    return () => removeEventListener("message", resize);
  }, []);
  return (
    <div>
      <p className="mb-1 text-[13px] font-medium">{APP_DIALOG.embedPreview}</p>
      <iframe
        key={JSON.stringify(app)}
        ref={frame}
        title={APP_DIALOG.embedPreview}
        src={`/a/${encodeURIComponent(slug)}?embed`}
        referrerPolicy="origin"
        className="w-full rounded-xl border"
        style={{ height }}
      />
      <p className="mt-1 text-xs text-faint">{APP_DIALOG.embedPreviewHint}</p>
    </div>
  );
};
