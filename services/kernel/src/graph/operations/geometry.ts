/** Sizes and positions of the image operations, in pixels. The transform service and previews in a browser share them. */
export interface ImageSize {
  width: number;
  height: number;
}

export interface ImageBox extends ImageSize {
  left: number;
  top: number;
}

/** Anchors of a part inside an image. */
export const POSITIONS = ["centre", "top", "top-right", "right", "bottom-right", "bottom", "bottom-left", "left", "top-left"] as const;

const share = (position: string, low: string, high: string): number =>
  position.split("-").includes(low) ? 0 : position.split("-").includes(high) ? 1 : 0.5;

export interface Placing {
  /** An anchor such as `top-right`. */
  position: string;
  x?: number | undefined;
  y?: number | undefined;
  margin: number;
}

/** Position of a part inside an image: given edges, or an anchor with a margin. */
export const anchored = (part: ImageSize, whole: ImageSize, { position, x, y, margin }: Placing): { left: number; top: number } => {
  const along = (free: number, at: number): number => Math.round(margin + (free - 2 * margin) * at);
  return {
    left: x ?? along(whole.width - part.width, share(position, "left", "right")),
    top: y ?? along(whole.height - part.height, share(position, "top", "bottom")),
  };
};

export interface Cropping {
  aspect?: string | undefined;
  width?: number | undefined;
  height?: number | undefined;
  x?: number | undefined;
  y?: number | undefined;
  position: string;
}

/** ImageSize of the part that a crop keeps. It can be larger than the image, which the operation rejects. */
export const cropSize = ({ aspect = "", width, height }: Cropping, own: ImageSize): ImageSize => {
  const [across, down] = aspect.split(":").map(Number);
  if (!across || !down) return { width: width ?? own.width, height: height ?? own.height };
  const most = Math.min(own.width, Math.round((own.height * across) / down));
  return { width: Math.max(1, most), height: Math.max(1, Math.min(own.height, Math.round((most * down) / across))) };
};

/** The part that a crop keeps, moved inside the image if it starts too far to the right or too low. */
export const cropBox = (crop: Cropping, own: ImageSize): ImageBox => {
  const size = cropSize(crop, own);
  const at = anchored(size, own, { ...crop, margin: 0 });
  return { left: Math.min(at.left, own.width - size.width), top: Math.min(at.top, own.height - size.height), ...size };
};

export interface Resizing {
  width?: number | undefined;
  height?: number | undefined;
  fit: "inside" | "cover" | "contain" | "fill";
  enlarge: boolean;
}

/** How many times the image is larger than its result, per side. */
const shrinkOf = ({ width, height, fit, enlarge }: Resizing, own: ImageSize): ImageSize => {
  const [across, down] = [width === undefined ? undefined : own.width / width, height === undefined ? undefined : own.height / height];
  const both = (one: number): ImageSize => ({ width: one, height: one });
  const requestedSize = (): ImageSize => {
    if (fit === "fill") return { width: across ?? 1, height: down ?? 1 };
    if (across === undefined || down === undefined) return both(across ?? down ?? 1);
    return both(fit === "cover" ? Math.min(across, down) : Math.max(across, down));
  };
  const least = enlarge ? 0 : 1;
  const shrink = requestedSize();
  return {
    width: Math.min(own.width, Math.max(least, shrink.width)),
    height: Math.min(own.height, Math.max(least, shrink.height)),
  };
};

/** An image of a size, and where the source picture is drawn in it. Parts outside of it are cut, uncovered parts are bars. */
export interface Drawing extends ImageSize {
  picture: ImageBox;
}

/** Result of a resize, by the rules of libvips and sharp. */
export const resizedImage = (settings: Resizing, own: ImageSize): Drawing => {
  const shrink = shrinkOf(settings, own);
  const picture = {
    width: Math.max(1, Math.round(own.width / shrink.width)),
    height: Math.max(1, Math.round(own.height / shrink.height)),
  };
  const requestedSize = { width: settings.width ?? picture.width, height: settings.height ?? picture.height };
  if (settings.fit === "contain") {
    const size = { width: Math.max(requestedSize.width, picture.width), height: Math.max(requestedSize.height, picture.height) };
    const at = { left: Math.floor((size.width - picture.width) / 2), top: Math.floor((size.height - picture.height) / 2) };
    return { ...size, picture: { ...at, ...picture } };
  }
  if (settings.fit !== "cover") return { ...picture, picture: { left: 0, top: 0, ...picture } };
  const size = { width: Math.min(requestedSize.width, picture.width), height: Math.min(requestedSize.height, picture.height) };
  const at = { left: 0 - Math.floor((picture.width - size.width + 1) / 2), top: 0 - Math.floor((picture.height - size.height + 1) / 2) };
  return { ...size, picture: { ...at, ...picture } };
};

/** Where a layer lies on an image; parts outside of the image are cut. @param width the layer's own if undefined */
export const layerBox = (layer: ImageSize, image: ImageSize, { width, ...placing }: Placing & { width?: number | undefined }): ImageBox => {
  const { picture } = resizedImage({ width, fit: "inside", enlarge: true }, layer);
  return { width: picture.width, height: picture.height, ...anchored(picture, image, placing) };
};

/** Measures of a text on an image. */
export interface Lettering {
  /** Size of the letters; the line height follows from the font. */
  line: number;
  /** Between lines, besides the font's own. */
  spacing: number;
  /** Distance of the box from the edges, and of the letters from the box. */
  margin: number;
  padding: number;
  /** Width at which lines break. */
  widest: number;
}

const LEAST_LINE = 8;
/** As shares of a line. */
const PADDING = 0.35;
const LINE_SPACING = 0.15;

/** @param size height of a line as a share of the image's height @param margin the same for the distance from the edges */
export const letteringOn = (image: ImageSize, { size, margin: share }: { size: number; margin: number }): Lettering => {
  const line = Math.max(LEAST_LINE, Math.round(size * image.height));
  const margin = Math.round(share * image.height);
  const padding = Math.round(line * PADDING);
  return { line, spacing: Math.round(line * LINE_SPACING), margin, padding, widest: image.width - 2 * (margin + padding) };
};

/** The box of a text. @param ink size of the drawn letters */
export const textBox = (ink: ImageSize, image: ImageSize, { margin, padding }: Lettering, position: string): ImageBox => {
  const box = { width: ink.width + 2 * padding, height: ink.height + 2 * padding };
  return { ...box, ...anchored(box, image, { position, margin }) };
};
