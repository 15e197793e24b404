import { edge, node, textField } from "../graph.mjs";
import { MUSIC, MUSIC_SECONDS } from "./parts.mjs";

/** Scenes of the example, each as picture, movement and narration. */
const EXAMPLE = [
  [
    "A lone lighthouse on a rocky headland at dusk, its lamp just lit",
    "slow push towards the lighthouse",
    "Tonight the keeper lights the lamp for the last time.",
  ],
  [
    "An old man with a white beard in a round room full of brass instruments",
    "he turns a brass wheel, dust in the light",
    "For forty years he has known every ship by its sound.",
  ],
  [
    "The beam of the lighthouse sweeping over a stormy sea and a small fishing boat",
    "the beam sweeps across the waves",
    "One boat is still out there, and it needs him.",
  ],
  [
    "Calm sea at dawn, a fishing boat entering a small harbour, the lamp going out",
    "the boat glides into the harbour",
    "When the sun rises, the boat is home, and so is he.",
  ],
];
const FROM_LIST = "the list";
const WRITTEN = "a language model";
const MOST_SCENES = 8;

/** Scenes of a text with a line per scene, with or without spaces around the bars. Lines without three parts are left out. */
const SCENES_OF_LINES = `map(&(contains(@, ' | ') && split(' | ', @) || split('|', @)), split(\`"\\n"\`, [0]))[?length(@) == \`3\`].{still: [0], motion: [1], narration: [2]}`;

/** Language models that write scenes by a schema. Local ones are too small for it, and the sandbox's is none. */
const WRITERS = [
  ...["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "gpt-6-1-sol", "gpt-6-luna", "gemini-4-argon", "gemini-3-8-flash"],
  ...["deepseek-v4-pro", "deepseek-v4-flash", "mistral-large-4", "kimi-k3-1-pro", "glm-5-3", "glm-5-3-flash", "grok-4-7"],
  "openrouter-claude-sonnet-5-5",
];

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

/** Makes a film of scenes, each with a picture, a clip and a voice. The scenes are a list, or a language model writes them. */
export const FILM_FROM_AN_IDEA = {
  slug: "film-from-an-idea",
  name: "Film from an idea",
  description:
    "A few lines in, a film out: each scene is drawn, set in motion and narrated, and all are joined, scored and captioned. Write the scenes yourself, or let a strong language model write them.",
  tags: ["film", "video"],
  nodes: [
    node("input", "request-input", 0, 1, {
      fields: [
        {
          ...textField(
            "scenes",
            "Scenes: a line each, as picture | movement | narration",
            EXAMPLE.map((parts) => parts.join(" | ")).join("\n"),
          ),
          type: "textarea",
        },
        { name: "source", type: "select", label: "The scenes come from", options: [FROM_LIST, WRITTEN], default: FROM_LIST },
        textField("topic", "What the film is about, for the language model", "a lighthouse keeper's last night"),
        textField("look", "How it looks", "soft evening light, painted in gouache"),
        textField("music", "What the music is like", "calm and hopeful, piano and strings"),
      ],
      values: {},
    }),
    node("list", "json", 1, 1, { label: "Scenes of the list", expression: SCENES_OF_LINES }),
    node("choice", "switch", 2, 1, {
      label: "The list, or a language model",
      cases: [{ name: "written", left: "{{source}}", op: "equals", right: WRITTEN }],
    }),
    node("writer", "llm-assistant", 3, 2, {
      model: "auto:text",
      allow: WRITERS,
      label: "Writer",
      system: "You write short films. Each scene has one picture and one short sentence that a narrator says.",
      prompt: "The scenes of a short film about {{topic}}.\n\nScenes of another film, as an example of their length and tone:\n{{example}}",
      maxTokens: 1_024,
      temperature: 0.9,
      schema: SCENES,
    }),
    node("stills", "json", 4, 0, { label: "Pictures", expression: "[*].still" }),
    node("motions", "json", 4, 1, { label: "Movements", expression: "[*].motion" }),
    node("lines", "json", 4, 2, { label: "Narration", expression: "[*].narration" }),
    node("prompts", "text-box", 5, 0, { text: "{{still}}. {{look}}" }),
    node("image", "generate-image", 6, 0, { model: "auto:image", label: "Picture of each scene", maxItems: MOST_SCENES }),
    node("wide", "media", 7, 0, { operation: "image-crop", label: "As wide as a film", aspect: "16:9", maxItems: MOST_SCENES }),
    node("clip", "generate-video", 8, 0, { model: "auto:image-to-video", label: "Clip of each picture", maxItems: MOST_SCENES }),
    node("voice", "generate-audio", 6, 2, { model: "auto:speech", label: "Voice of each scene", maxItems: MOST_SCENES }),
    node("frame", "media", 9, 0, {
      ...{ operation: "video-resize", label: "All of one size", width: 1_280, height: 720, fps: 25, fit: "cover", maxItems: MOST_SCENES },
    }),
    node("narrated", "media", 10, 0, { operation: "video-mux", label: "Clip and voice", length: "longest", maxItems: MOST_SCENES }),
    node("captioned", "media", 11, 0, { operation: "video-captions", label: "Captions", maxItems: MOST_SCENES }),
    node("film", "media", 12, 0, { operation: "video-concat", label: "Scenes joined" }),
    node("length", "json", 12, 1, { label: "Length of the music", expression: MUSIC_SECONDS }),
    node("music", "generate-audio", 13, 1, { model: "auto:music", label: "Music" }),
    node("scored", "media", 14, 0, { ...MUSIC, label: "Music under the voice" }),
    node("output", "response-output", 15, 1, {}),
  ],
  edges: [
    "input.scenes -> list.value",
    "input.look -> list.value",
    "list.value -> choice.value",
    "input.source -> choice.source",
    "choice.written -> writer.example",
    "input.topic -> writer.topic",
    "choice.else -> stills.value",
    "choice.else -> motions.value",
    "choice.else -> lines.value",
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
    "choice.else -> output.scenes",
    "writer.json -> output.scenes",
  ].map(edge),
};
