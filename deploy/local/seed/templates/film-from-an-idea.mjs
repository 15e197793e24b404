import { edge, node, textField } from "../graph.mjs";
import { MUSIC, MUSIC_SECONDS } from "./parts.mjs";

/** Length that fits the writer's token limit, even if a small model needs more tokens per word. */
const SCENES = {
  type: "array",
  minItems: 3,
  maxItems: 4,
  items: {
    type: "object",
    required: ["still", "motion", "narration"],
    additionalProperties: false,
    properties: {
      still: { type: "string", minLength: 20, maxLength: 200, description: "What a picture of the scene shows" },
      motion: { type: "string", minLength: 10, maxLength: 100, description: "What moves in it" },
      narration: { type: "string", minLength: 15, maxLength: 120, description: "One short sentence that is spoken over it" },
    },
  },
};

/** Turns one line into scenes, each with a picture, a clip and a voice, and joins them into a film. */
export const FILM_FROM_AN_IDEA = {
  slug: "film-from-an-idea",
  name: "Film from an idea",
  description:
    "One line in, a film out: scenes are written, drawn, set in motion and narrated by a voice, joined, scored and captioned. Each step takes the best model that this installation has.",
  tags: ["film", "video"],
  nodes: [
    node("input", "request-input", 0, 1, {
      fields: [
        textField("topic", "What the film is about", "a lighthouse keeper's last night"),
        textField("look", "How it looks", "soft evening light, painted in gouache"),
        textField("music", "What the music is like", "calm and hopeful, piano and strings"),
      ],
      values: {},
    }),
    node("writer", "llm-assistant", 1, 1, {
      model: "auto:text",
      label: "Writer",
      system: "You write short films. Each scene has one picture and one short sentence that a narrator says.",
      prompt: "The scenes of a short film about {{topic}}.",
      maxTokens: 1_024,
      // At lower values small models repeat the same scene.
      temperature: 0.9,
      schema: SCENES,
    }),
    node("stills", "json", 2, 0, { label: "Pictures", expression: "[*].still" }),
    node("motions", "json", 2, 1, { label: "Movements", expression: "[*].motion" }),
    node("lines", "json", 2, 2, { label: "Narration", expression: "[*].narration" }),
    node("prompts", "text-box", 3, 0, { text: "{{still}}. {{look}}" }),
    node("image", "generate-image", 4, 0, { model: "auto:image", label: "Picture of each scene", maxItems: 4 }),
    node("wide", "media", 5, 0, { operation: "image-crop", label: "As wide as a film", aspect: "16:9", maxItems: 4 }),
    node("clip", "generate-video", 6, 0, { model: "auto:image-to-video", label: "Clip of each picture", maxItems: 4 }),
    node("voice", "generate-audio", 4, 2, { model: "auto:speech", label: "Voice of each scene", maxItems: 4 }),
    node("frame", "media", 7, 0, {
      ...{ operation: "video-resize", label: "All of one size", width: 1_280, height: 720, fps: 25, fit: "cover", maxItems: 4 },
    }),
    node("narrated", "media", 8, 0, { operation: "video-mux", label: "Clip and voice", length: "longest", maxItems: 4 }),
    node("captioned", "media", 9, 0, { operation: "video-captions", label: "Captions", maxItems: 4 }),
    node("film", "media", 10, 0, { operation: "video-concat", label: "Scenes joined" }),
    node("length", "json", 10, 1, { label: "Length of the music", expression: MUSIC_SECONDS }),
    node("music", "generate-audio", 11, 1, { model: "auto:music", label: "Music" }),
    node("scored", "media", 12, 0, { ...MUSIC, label: "Music under the voice" }),
    node("output", "response-output", 13, 1, {}),
  ],
  edges: [
    "input.topic -> writer.topic",
    "writer.json -> stills.value",
    "writer.json -> motions.value",
    "writer.json -> lines.value",
    "stills.value -> prompts.still",
    "input.look -> prompts.look",
    "prompts.text -> image.prompt",
    "image.image -> wide.image",
    "wide.image -> clip.image",
    "motions.value -> clip.prompt",
    "lines.value -> voice.prompt",
    "clip.video -> frame.video",
    "frame.video -> narrated.video",
    "voice.audio -> narrated.audio",
    "narrated.video -> captioned.video",
    "lines.value -> captioned.text",
    "captioned.video -> film.videos",
    "film.video -> length.value",
    "length.value -> music.seconds",
    "input.music -> music.prompt",
    "film.video -> scored.video",
    "music.audio -> scored.audio",
    "scored.video -> output.videos",
    "writer.json -> output.scenes",
  ].map(edge),
};
