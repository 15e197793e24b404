import { useState, type CSSProperties, type ReactNode } from "react";
import { renewed } from "../api/files";
import { isExpired } from "../document/signatures";
import { classes } from "../ui/classes";
import { mayStandIn, thumbnailUrl } from "./thumbnail";

interface StillProps {
  url: string;
  /** Width in device pixels. */
  width: number;
  label: string;
  className: string;
  /** True if the file itself is a picture. */
  isPicture: boolean;
  /** True to scale the picture within a container of `container-type: size`, without bars at its sides. */
  fitsWhole?: boolean;
  /** Shown if there is no thumbnail. */
  otherwise: ReactNode;
}

const Shown = ({ url, width, label, className, isPicture, fitsWhole = false, otherwise }: StillProps) => {
  const [ratio, setRatio] = useState<number>();
  const [src, setSrc] = useState<string | undefined>(() => thumbnailUrl(url, width));
  const [isRenewed, setRenewed] = useState(false);
  const onError = (): void => {
    if (!isRenewed && isExpired(url)) {
      setRenewed(true);
      return void renewed(url).then(
        (fresh) => setSrc(thumbnailUrl(fresh, width)),
        () => setSrc(undefined),
      );
    }
    if (src === url || !isPicture) return setSrc(undefined);
    mayStandIn(url).then(
      (may) => setSrc(may ? url : undefined),
      () => setSrc(undefined),
    );
  };
  if (src === undefined) return otherwise;
  return (
    <img
      src={src}
      alt={label}
      loading="lazy"
      decoding="async"
      draggable={false}
      className={classes(className, ratio !== undefined && "media-whole")}
      style={ratio === undefined ? {} : ({ "--ratio": ratio } as CSSProperties)}
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
        fitsWhole && naturalHeight > 0 && setRatio(naturalWidth / naturalHeight)
      }
      onError={onError}
    />
  );
};

/** A thumbnail of the service's own image or video. If it is missing, a small image is shown itself. */
export const Still = (props: StillProps) => <Shown key={`${props.url} ${props.width}`} {...props} />;
