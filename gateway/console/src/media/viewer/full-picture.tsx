import { LoaderCircle } from "lucide-react";
import { useState, type CSSProperties } from "react";
import { renewed } from "../../api/files";
import { isExpired } from "../../document/signatures";
import { STAGE } from "../../messages/media";
import { Button } from "../../ui/button";
import { classes } from "../../ui/classes";
import { thumbnailUrl } from "../thumbnail";
import { unsigned } from "../url";

/** Width of the thumbnail that nodes of the usual size show, in device pixels. */
const NODE_PX = 384;

interface FullPictureProps {
  url: string;
  label: string;
  style: CSSProperties;
}

const Loading = ({ url, label, style }: FullPictureProps) => {
  const [src, setSrc] = useState(url);
  const [state, setState] = useState<"loading" | "shown" | "failed">("loading");
  const retry = async (): Promise<void> => {
    setState("loading");
    setSrc(await renewed(url));
  };
  const fail = (): void => setState("failed");
  if (state === "failed")
    return (
      <div role="alert" className="flex size-full flex-col items-center justify-center gap-3 text-sm">
        {STAGE.notLoaded}
        <Button onClick={() => void retry().catch(fail)}>{STAGE.loadAgain}</Button>
      </div>
    );
  const fit = "size-full object-contain";
  return (
    <>
      {state === "loading" && (
        <>
          <img src={thumbnailUrl(src, NODE_PX)} alt="" draggable={false} className={classes("absolute inset-0", fit)} style={style} />
          <LoaderCircle className="absolute right-3 bottom-3 size-6 animate-spin text-(--on-media)" role="img" aria-label={STAGE.loading} />
        </>
      )}
      <img
        src={src}
        alt={label}
        draggable={false}
        className={classes("relative", fit)}
        style={style}
        onLoad={() => setState("shown")}
        onError={() => (isExpired(src) ? void retry().catch(fail) : fail())}
      />
    </>
  );
};

/** A picture in full size. Its thumbnail is shown until it has loaded. A new signature of its address loads nothing again. */
export const FullPicture = (props: FullPictureProps) => <Loading key={unsigned(props.url)} {...props} />;
