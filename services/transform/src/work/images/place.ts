interface Size {
  width: number;
  height: number;
}

const share = (position: string, low: string, high: string): number =>
  position.split("-").includes(low) ? 0 : position.split("-").includes(high) ? 1 : 0.5;

/** Position of a part in an image, from explicit edges or from an anchor such as `top-right` with a margin. */
export const placed = (
  part: Size,
  whole: Size,
  { position, x, y, margin }: { position: string; x?: number | undefined; y?: number | undefined; margin: number },
): { left: number; top: number } => {
  const along = (free: number, at: number): number => Math.round(margin + (free - 2 * margin) * at);
  return {
    left: x ?? along(whole.width - part.width, share(position, "left", "right")),
    top: y ?? along(whole.height - part.height, share(position, "top", "bottom")),
  };
};
