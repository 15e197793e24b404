import { plural } from "../forms";

export const TOUCH = {
  edit: "Edit on the picture",
  editTimed: "Edit on the timeline",
  editBoth: "Edit on the picture or timeline",
  save: "Save",
  cancel: "Cancel",
  hint: "Enter saves, Escape cancels.",
  noPicture: "Run the node before this one to see its picture",
  noPictureHint: "You can set the numbers now.",
  loading: "Loading the picture…",
  unreadable: "Your browser can't show this picture",
  unreadableHint: "Browsers don't show HEIC and TIFF files. Convert the image before this node, or set the numbers.",
  wired: (names: string) => `Links set ${names}. Remove them to edit on the picture.`,
  picture: "Picture",
  pictureOf: (index: number, count: number) => `Picture ${index} of ${count}`,
  previous: "Previous picture",
  next: "Next picture",
  sameForAll: (count: number) => `These settings apply to all ${plural(count, "picture", "pictures")}.`,
  result: "Result",
  size: (width: number, height: number) => `${width} × ${height} pixels`,
  nothingToTouch:
    "Select one node that crops, resizes or overlays an image, adds text to it, draws a mask, trims a video or sound, or captions a video.",
};

export const HANDLE_BOX = {
  nw: "Top left corner",
  n: "Top edge",
  ne: "Top right corner",
  e: "Right edge",
  se: "Bottom right corner",
  s: "Bottom edge",
  sw: "Bottom left corner",
  w: "Left edge",
  move: (name: string) => `Move ${name}`,
  keys: "Arrow keys move by 1 pixel, with Shift by 10.",
};

export const CROP = {
  area: "crop area",
  aspect: "Aspect ratio",
  free: "Free",
  original: "Original",
  width: "Width",
  height: "Height",
  left: "Left edge",
  top: "Top edge",
  attention: "Find the part that stands out",
  attentionHint: "The position is chosen for each picture when the node runs.",
  tooLarge: (width: number, height: number) => `The picture has only ${width} × ${height} pixels. Choose a smaller area.`,
};

export const RESIZE = {
  image: "resized image",
  original: "Original size",
};

export const ANCHORS = {
  title: "Position",
  "top-left": "Top left",
  top: "Top",
  "top-right": "Top right",
  left: "Left",
  centre: "Center",
  right: "Right",
  "bottom-left": "Bottom left",
  bottom: "Bottom",
  "bottom-right": "Bottom right",
} as const;

export const COMPOSE = {
  layer: "overlay",
  left: "Left edge",
  top: "Top edge",
  opacity: (percent: number) => `Opacity: ${percent} %`,
  order: "One node adds one layer. To add more, link this node to another one like it; the last node is on top.",
};

export const MASK = {
  tool: "Tool",
  brush: "Brush",
  eraser: "Eraser",
  rectangle: "Rectangle",
  size: (percent: number) => `Brush size: ${percent} %`,
  undo: "Undo",
  clear: "Clear",
  full: "The mask has too many strokes. Undo some, or draw the rest in a second node.",
  base: "The tinted part is selected. If a mask is linked, the run draws on that mask.",
};

export const LETTERS = {
  box: "text",
  colour: "Text color",
  background: "Background color",
  narrow: "The picture is too narrow for text of this size. Choose a smaller size or margin.",
  long: "The text is too long for the picture at this size. Choose a smaller size, or shorten it.",
  noFont: "Couldn't load the font. Check your connection.",
  approximate: "The preview is approximate for these characters. The run uses Nodeloom's own fonts.",
};

export const COLOUR = {
  pick: (label: string) => `Pick from the screen: ${label}`,
  opacityOf: (label: string) => `Opacity: ${label}`,
  percent: (percent: number) => `${percent} %`,
};
