import { useState, type CSSProperties } from "react";
import { renewed } from "../api/files";
import { isExpired } from "../document/signatures";
import { classes } from "../ui/classes";
import type { OutputFile } from "./files-in";
import { Still } from "./still";
import { isOwnMedia } from "./url";
import { thumbnailUrl } from "./thumbnail";

/** Address of a mask in a width: its thumbnail, or the file if it has none. An expired address is renewed once. */
const useMaskUrl = (url: string, width: number): { src: string; onError: () => void } => {
  const [other, setOther] = useState<{ of: string; src: string }>();
  const src = other?.of === url ? other.src : thumbnailUrl(url, width);
  const onError = (): void => {
    if (!isExpired(url)) return setOther({ of: url, src: url });
    // Without a new address the mask is missing, as any deleted file.
    renewed(url).then(
      (fresh) => setOther({ of: url, src: fresh }),
      () => undefined,
    );
  };
  return { src, onError: other?.of === url ? () => undefined : onError };
};

export interface MaskViewProps {
  file: OutputFile;
  label: string;
  className?: string | undefined;
  /** Width in device pixels. */
  width: number;
  /** True to show all of it; otherwise it fills its space. */
  whole?: boolean;
  style?: CSSProperties;
}

/** A mask: tinted over its picture if that is known, otherwise the selected part as a checkered silhouette. */
export const MaskView = ({ file, label, className, width, whole = false, style }: MaskViewProps) => {
  const mask = useMaskUrl(file.url, width);
  const picture = file.over !== undefined && isOwnMedia(file.over) ? file.over : undefined;
  const fit = whole ? "contain" : "cover";
  return (
    <span
      role="img"
      aria-label={label === "" ? undefined : label}
      aria-hidden={label === "" || undefined}
      className={classes("mask-view", className)}
      style={style}
      data-over={picture !== undefined}
    >
      {picture !== undefined && (
        <Still url={picture} width={width} label="" className={whole ? "object-contain" : "object-cover"} isPicture otherwise={null} />
      )}
      {/* A mask of CSS doesn't say that it can't be loaded. */}
      <img hidden alt="" {...mask} />
      <span
        className={picture === undefined ? "mask-silhouette" : "mask-tint"}
        style={{ maskImage: `url("${mask.src}")`, maskSize: fit }}
      />
    </span>
  );
};
