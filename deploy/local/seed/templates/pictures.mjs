import { edge, node, textField } from "../graph.mjs";

/** Templates that create pictures. */

export const TEXT_TO_IMAGE = {
  slug: "text-to-image",
  name: "Text to image",
  description: "One prompt in, one picture out: the shortest pipeline, by the best model that this installation has.",
  tags: ["pictures"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [{ ...textField("prompt", "Prompt", "a paper boat on a quiet lake, morning light"), type: "textarea" }],
      values: {},
    }),
    node("image", "generate-image", 1, 0, { model: "auto:image" }),
    node("output", "response-output", 2, 0, {}),
  ],
  edges: ["input.prompt -> image.prompt", "image.image -> output.images"].map(edge),
};

export const PRODUCT_SHOT = {
  slug: "product-shot",
  name: "Product shot",
  description: "A product is cut out of any photo and stands in a new place that you describe.",
  tags: ["pictures", "shop"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "product", type: "image_upload", label: "Photo of the product", default: "sample:mug.jpg" },
        textField("place", "Where it stands", "on a wooden table in the morning sun, blurred garden behind it"),
      ],
      values: {},
    }),
    node("cutout", "generate-image", 1, 0, { model: "auto:cutout", label: "Cut out" }),
    node("prompt", "text-box", 1, 1, { text: "An empty scene for a product photo: {{place}}. Nothing in the middle." }),
    node("place", "generate-image", 2, 1, { model: "auto:image", label: "New place" }),
    node("square", "media", 3, 1, { operation: "image-resize", label: "As large as the shot", width: 1_024, height: 1_024, fit: "cover" }),
    node("shot", "media", 4, 0, { operation: "image-composite", label: "Put together", width: 760, position: "bottom", margin: 60 }),
    node("file", "media", 5, 0, { operation: "image-convert", label: "For the shop", format: "jpeg" }),
    node("output", "response-output", 6, 0, {}),
  ],
  edges: [
    "input.product -> cutout.image",
    "input.place -> prompt.place",
    "prompt.text -> place.prompt",
    "place.image -> square.image",
    "square.image -> shot.image",
    "cutout.image -> shot.overlay",
    "shot.image -> file.image",
    "file.image -> output.images",
    "cutout.image -> output.images",
  ].map(edge),
};

export const PICTURE_TO_3D = {
  slug: "picture-to-3d",
  name: "Picture to 3D",
  description: "A photo of an object becomes a 3D model to turn and to download, by the best model that this installation has.",
  tags: ["pictures", "3d"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [{ name: "photo", type: "image_upload", label: "Photo of an object", default: "sample:mug.jpg" }],
      values: {},
    }),
    node("form", "generate-3d", 1, 0, { model: "auto:image-to-3d", label: "3D model" }),
    node("output", "response-output", 2, 0, {}),
  ],
  edges: ["input.photo -> form.image", "form.model3d -> output.models3d"].map(edge),
};

export const UPSCALE = {
  slug: "upscale-and-sharpen",
  name: "Upscale and sharpen",
  description: "A small picture becomes four times as wide and high, and crisp.",
  tags: ["pictures"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "picture", type: "image_upload", label: "Small picture", default: "sample:small.jpg" },
        { name: "sharpness", type: "number", label: "Sharpness", default: 0.8, min: 0, max: 5 },
      ],
      values: {},
    }),
    node("large", "generate-image", 1, 0, { model: "auto:upscale", label: "Enlarged" }),
    node("width", "json", 2, 1, { label: "As wide as it is", expression: "width" }),
    node("sharp", "media", 3, 0, { operation: "image-resize", label: "Sharpened" }),
    node("file", "media", 4, 0, { operation: "image-convert", label: "As a file to send", format: "webp", quality: 90 }),
    node("output", "response-output", 5, 0, {}),
  ],
  edges: [
    "input.picture -> large.image",
    "large.image -> sharp.image",
    "large.image -> width.value",
    "width.value -> sharp.width",
    "input.sharpness -> sharp.sharpen",
    "sharp.image -> file.image",
    "file.image -> output.images",
  ].map(edge),
};

const CROPS = [
  ["wide", "16:9", 1_280, 720],
  ["square", "1:1", 1_080, 1_080],
  ["tall", "9:16", 720, 1_280],
];

const THUMBNAILS = {
  slug: "thumbnail-set",
  name: "Thumbnail set",
  description: "One picture and a title become thumbnails for every place: wide, square and tall.",
  tags: ["pictures", "text"],
  nodes: [
    node("input", "request-input", 0, 1, {
      fields: [
        { name: "picture", type: "image_upload", label: "Picture", default: "sample:lighthouse.jpg" },
        textField("title", "Title", "Lighthouse summer"),
      ],
      values: {},
    }),
    ...CROPS.flatMap(([name, aspect, width, height], row) => [
      node(`crop-${name}`, "media", 1, row, { operation: "image-crop", label: `Part, ${aspect}`, aspect, position: "attention" }),
      node(`size-${name}`, "media", 2, row, { operation: "image-resize", label: `${width} × ${height}`, width, height, fit: "cover" }),
      node(`title-${name}`, "media", 3, row, { operation: "image-text", label: "Title", bold: true, size: name === "tall" ? 0.05 : 0.09 }),
    ]),
    node("output", "response-output", 4, 1, {}),
  ],
  edges: CROPS.flatMap(([name]) => [
    `input.picture -> crop-${name}.image`,
    `crop-${name}.image -> size-${name}.image`,
    `size-${name}.image -> title-${name}.image`,
    `input.title -> title-${name}.text`,
    `title-${name}.image -> output.images`,
  ]).map(edge),
};

const STYLES = ["a woodcut", "a watercolour", "a blueprint", "a felt toy", "stained glass", "a pencil sketch"];

const STYLE_GRID = {
  slug: "grid-of-styles",
  name: "Grid of styles",
  description: "One subject in six styles, side by side and named, to choose from.",
  tags: ["pictures"],
  nodes: [
    node("input", "request-input", 0, 0, { fields: [textField("subject", "Subject", "a heron in the reeds")], values: {} }),
    node("styles", "list", 0, 1, { label: "Styles", items: STYLES }),
    node("prompts", "text-box", 1, 0, { text: "{{subject}}, as {{style}}" }),
    node("image", "generate-image", 2, 0, { model: "auto:image", label: "Picture of each" }),
    node("named", "media", 3, 0, { operation: "image-text", label: "Name of the style", size: 0.08 }),
    node("grid", "media", 4, 0, { operation: "image-grid", label: "Side by side", columns: 3, cellWidth: 480, cellHeight: 480 }),
    node("output", "response-output", 5, 0, {}),
  ],
  edges: [
    "input.subject -> prompts.subject",
    "styles.items -> prompts.style",
    "prompts.text -> image.prompt",
    "image.image -> named.image",
    "styles.items -> named.text",
    "named.image -> grid.images",
    "grid.image -> output.images",
    "image.image -> output.images",
  ].map(edge),
};

const INPAINT = {
  slug: "inpaint",
  name: "Inpaint",
  description: "You select a part of a photo and describe what is drawn there. The rest stays as it is.",
  tags: ["pictures", "masks"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "photo", type: "image_upload", label: "Photo", default: "sample:lighthouse.jpg" },
        textField("prompt", "What to draw there", "a hot air balloon"),
      ],
      values: {},
    }),
    node("select", "media", 1, 1, {
      operation: "mask-draw",
      label: "Selected part",
      shapes: [
        {
          tool: "brush",
          points: [
            [0.2, 0.24],
            [0.42, 0.2],
          ],
          size: 0.24,
        },
      ],
      feather: 16,
    }),
    node("fill", "generate-image", 2, 0, { model: "sandbox-image", label: "Drawn inside" }),
    node("output", "response-output", 3, 0, {}),
  ],
  edges: [
    "input.photo -> select.image",
    "input.photo -> fill.image",
    "input.prompt -> fill.prompt",
    "select.mask -> fill.mask",
    "fill.image -> output.images",
  ].map(edge),
};

const OUTPAINT = {
  slug: "outpaint",
  name: "Outpaint",
  description: "A photo becomes wider: a model draws what lies to its left and right.",
  tags: ["pictures", "masks"],
  nodes: [
    node("input", "request-input", 0, 0, {
      fields: [
        { name: "photo", type: "image_upload", label: "Photo", default: "sample:beach.jpg" },
        textField("prompt", "What lies beside it", "more beach and sea, in the same light"),
      ],
      values: {},
    }),
    node("wider", "media", 1, 0, { operation: "image-extend", label: "Wider", left: 160, right: 160 }),
    node("select", "media", 2, 1, { operation: "mask-from-image", label: "New parts", by: "alpha", invert: true }),
    node("overlap", "media", 3, 1, { operation: "mask-grow", label: "With some of the photo", pixels: 12 }),
    node("soft", "media", 4, 1, { operation: "mask-blur", label: "With a soft edge", feather: 12 }),
    node("fill", "generate-image", 5, 0, { model: "sandbox-image", label: "Drawn beside" }),
    node("output", "response-output", 6, 0, {}),
  ],
  edges: [
    "input.photo -> wider.image",
    "wider.image -> select.image",
    "select.mask -> overlap.mask",
    "overlap.mask -> soft.mask",
    "wider.image -> fill.image",
    "soft.mask -> fill.mask",
    "input.prompt -> fill.prompt",
    "fill.image -> output.images",
  ].map(edge),
};

export const PICTURES = [THUMBNAILS, STYLE_GRID, INPAINT, OUTPAINT];
