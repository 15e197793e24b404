import { choice, colour, file, fileList, flag, MOST_PIXELS_WIDE, number, operationsOf, whole } from "./operation";

const image = operationsOf("image", "images");

export const POSITIONS = ["centre", "top", "top-right", "right", "bottom-right", "bottom", "bottom-left", "left", "top-left"] as const;
const pixels = (title: string) => whole(1, MOST_PIXELS_WIDE, `${title}, in pixels`);

export const IMAGE_OPERATIONS = [
  image({
    name: "image-resize",
    title: "Resize an image",
    summary: "Makes an image larger or smaller. With one side given, the other follows.",
    required: ["image"],
    oneOf: [["width", "height"]],
    properties: {
      image: file("image", "Image"),
      width: pixels("Width"),
      height: pixels("Height"),
      fit: choice(["inside", "cover", "contain", "fill"], "How it fills both sides: whole, cut, with bars, or stretched"),
      enlarge: flag("A smaller image is made larger", true),
      sharpen: number(0, 5, "How far edges are sharpened; 0 leaves them", 0),
      background: colour("Colour of bars", "#000000"),
    },
  }),
  image({
    name: "image-crop",
    title: "Crop an image",
    summary: "Cuts a part out of an image: of a size, or the largest of an aspect.",
    required: ["image"],
    oneOf: [["aspect", "width", "height"]],
    properties: {
      image: file("image", "Image"),
      aspect: { type: "string", pattern: "^[1-9][0-9]{0,3}:[1-9][0-9]{0,3}$", title: "Aspect, such as 16:9" },
      width: pixels("Width"),
      height: pixels("Height"),
      x: whole(0, MOST_PIXELS_WIDE, "Left edge, in pixels; without it `position` decides"),
      y: whole(0, MOST_PIXELS_WIDE, "Upper edge, in pixels"),
      position: choice([...POSITIONS, "attention"], "Where the part is; `attention` looks for what stands out"),
    },
  }),
  image({
    name: "image-composite",
    title: "Lay an image over another",
    summary: "Lays an image, such as a logo or a cut-out, over another one.",
    required: ["image", "overlay"],
    properties: {
      image: file("image", "Background"),
      overlay: file("image", "What is laid over it"),
      position: choice(POSITIONS, "Where it lies"),
      x: whole(-MOST_PIXELS_WIDE, MOST_PIXELS_WIDE, "Left edge, in pixels; without it `position` decides"),
      y: whole(-MOST_PIXELS_WIDE, MOST_PIXELS_WIDE, "Upper edge, in pixels"),
      width: pixels("Width of the overlay; its own without it"),
      margin: whole(0, MOST_PIXELS_WIDE, "Distance from the edges, in pixels", 0),
      opacity: number(0, 1, "Opacity of the overlay", 1),
      blend: choice(["over", "multiply", "screen", "overlay", "darken", "lighten"], "How its colours meet those below"),
    },
  }),
  image({
    name: "image-grid",
    title: "Put images into a grid",
    summary: "Puts images side by side, in rows, all of one size.",
    required: ["images"],
    properties: {
      images: fileList("image", 1, 64),
      columns: whole(1, 16, "Columns; as many as make the grid nearly square without it"),
      cellWidth: whole(16, 2_048, "Width of each, in pixels", 512),
      cellHeight: whole(16, 2_048, "Height of each, in pixels", 512),
      gap: whole(0, 256, "Distance between them, in pixels", 8),
      fit: choice(["cover", "contain"], "Cut, or whole with bars"),
      background: colour("Colour between them", "#ffffff"),
    },
  }),
  image({
    name: "image-convert",
    title: "Convert an image",
    summary: "Writes an image in another format.",
    required: ["image"],
    properties: {
      image: file("image", "Image"),
      format: choice(["png", "jpeg", "webp", "avif", "gif"], "Format"),
      quality: whole(1, 100, "Quality, where the format loses any", 85),
      background: colour("Behind transparent parts, where the format has none", "#ffffff"),
    },
  }),
  image({
    name: "image-text",
    title: "Write on an image",
    summary: "Writes a title or a caption on an image.",
    required: ["image", "text"],
    properties: {
      image: file("image", "Image"),
      text: { type: "string", minLength: 1, maxLength: 2_000, title: "Text" },
      position: choice(POSITIONS, "Where it stands", "bottom"),
      size: number(0.01, 0.5, "Height of a line, as a share of the image's height", 0.07),
      colour: colour("Colour of the text", "#ffffff"),
      background: colour("Colour behind it", "#00000099"),
      bold: flag("Bold"),
      align: choice(["centre", "left", "right"], "Alignment of lines"),
      margin: number(0, 0.4, "Distance from the edges, as a share of the height", 0.05),
    },
  }),
] as const;
