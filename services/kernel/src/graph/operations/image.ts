import { POSITIONS } from "./geometry";
import { choice, colour, explained, file, fileList, flag, mask, MOST_PIXELS_WIDE, number, operationsOf, whole } from "./operation";

const image = operationsOf("image", "images");

const pixels = (title: string) => whole(1, MOST_PIXELS_WIDE, `${title} (pixels)`);

const added = (title: string) => whole(0, MOST_PIXELS_WIDE, `${title} (pixels)`);

export const IMAGE_OPERATIONS = [
  image({
    name: "image-resize",
    title: "Resize an image",
    summary: "Makes an image larger or smaller. If you set one side, the other follows.",
    required: ["image"],
    oneOf: [["width", "height"]],
    properties: {
      image: file("image", "Image"),
      width: pixels("Width"),
      height: pixels("Height"),
      fit: explained(
        "With both sides given: the whole image inside them, cut to fill them, with bars, or stretched.",
        choice(["inside", "cover", "contain", "fill"], "Fit"),
      ),
      enlarge: flag("Enlarge smaller images", true),
      sharpen: number(0, 5, "Sharpening", 0),
      background: colour("Bar color", "#000000"),
    },
  }),
  image({
    name: "image-crop",
    title: "Crop an image",
    summary: "Cuts a part out of an image, by size or by aspect ratio.",
    required: ["image"],
    oneOf: [["aspect", "width", "height"]],
    properties: {
      image: file("image", "Image"),
      aspect: { type: "string", pattern: "^[1-9][0-9]{0,3}:[1-9][0-9]{0,3}$", title: "Aspect ratio", description: "Such as 16:9." },
      width: pixels("Width"),
      height: pixels("Height"),
      x: explained("Leave empty to use the position.", whole(0, MOST_PIXELS_WIDE, "Left edge (pixels)")),
      y: whole(0, MOST_PIXELS_WIDE, "Top edge (pixels)"),
      position: explained("`attention` finds the part that stands out.", choice([...POSITIONS, "attention"], "Position")),
    },
  }),
  image({
    name: "image-composite",
    title: "Overlay an image",
    summary: "Places an image, such as a logo or a cut-out, over another one.",
    required: ["image", "overlay"],
    properties: {
      image: file("image", "Background"),
      overlay: file("image", "Overlay"),
      position: choice(POSITIONS, "Position"),
      x: explained("Leave empty to use the position.", whole(-MOST_PIXELS_WIDE, MOST_PIXELS_WIDE, "Left edge (pixels)")),
      y: whole(-MOST_PIXELS_WIDE, MOST_PIXELS_WIDE, "Top edge (pixels)"),
      width: explained("Leave empty to keep the overlay's own width.", pixels("Overlay width")),
      margin: whole(0, MOST_PIXELS_WIDE, "Margin (pixels)", 0),
      opacity: number(0, 1, "Opacity", 1),
      blend: choice(["over", "multiply", "screen", "overlay", "darken", "lighten"], "Blend mode"),
    },
  }),
  image({
    name: "image-grid",
    title: "Make an image grid",
    summary: "Places images side by side in rows, all with the same size.",
    required: ["images"],
    properties: {
      images: fileList("image", 1, 64),
      columns: explained("Leave empty for a nearly square grid.", whole(1, 16, "Columns")),
      cellWidth: whole(16, 2_048, "Cell width (pixels)", 512),
      cellHeight: whole(16, 2_048, "Cell height (pixels)", 512),
      gap: whole(0, 256, "Gap (pixels)", 8),
      fit: explained("Cut each image to fill its cell, or show it whole with bars.", choice(["cover", "contain"], "Fit")),
      background: colour("Gap color", "#ffffff"),
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
      quality: explained("For JPEG, WebP and AVIF.", whole(1, 100, "Quality", 85)),
      background: explained("Shown behind transparent parts if the format has no transparency.", colour("Background color", "#ffffff")),
    },
  }),
  image({
    name: "image-text",
    title: "Add text to an image",
    summary: "Writes a title or a caption on an image.",
    required: ["image", "text"],
    properties: {
      image: file("image", "Image"),
      text: { type: "string", minLength: 1, maxLength: 2_000, title: "Text" },
      position: choice(POSITIONS, "Position", "bottom"),
      size: explained("Height of a line, as a share of the image's height.", number(0.01, 0.5, "Text size", 0.07)),
      colour: colour("Text color", "#ffffff"),
      background: colour("Background color", "#00000099"),
      bold: flag("Bold"),
      align: choice(["centre", "left", "right"], "Alignment"),
      margin: explained("Distance from the edges, as a share of the height.", number(0, 0.4, "Margin", 0.05)),
    },
  }),
  image({
    name: "image-extend",
    title: "Extend an image",
    summary: "Adds space on the sides of an image, for a model to fill.",
    required: ["image"],
    oneOf: [["left", "right", "top", "bottom"]],
    properties: {
      image: file("image", "Image"),
      left: added("Left"),
      right: added("Right"),
      top: added("Top"),
      bottom: added("Bottom"),
      background: explained("Transparent by default, so that `mask-from-image` finds the new parts.", colour("Color", "#00000000")),
    },
  }),
  image({
    name: "image-mask",
    title: "Apply a mask to an image",
    summary: "Makes the parts of an image that a mask doesn't select transparent.",
    required: ["image", "mask"],
    properties: {
      image: file("image", "Image"),
      mask: mask(),
      keep: explained("Keep the selected parts, or the rest.", choice(["selected", "rest"], "Keep")),
    },
  }),
  image({
    name: "image-from-mask",
    title: "Make an image from a mask",
    summary: "Writes a mask in the form that another service takes.",
    required: ["mask"],
    properties: {
      mask: mask(),
      image: explained("Sets the size of the result.", file("image", "Image")),
      form: explained("Selected parts are white, black or transparent.", choice(["white", "black", "transparent"], "Selected parts")),
    },
  }),
] as const;
