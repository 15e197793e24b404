/**
 * Vocabulary of OpenAI's API (platform.openai.com/docs/api-reference): the inputs that its parameters map to, their defaults, parameters
 * without a counterpart, and enumerated values.
 */

export const IMAGE_FORMATS = ["url", "b64_json"] as const;
export const TRANSCRIPT_FORMATS = ["json", "text", "verbose_json"] as const;
export const VECTOR_FORMATS = ["float", "base64"] as const;
export const TOOL_CHOICES = ["auto", "none", "required"] as const;
export const FINISH_REASONS = ["stop", "length", "tool_calls"] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

/** Names of a parameter in models' schemas besides its own, preferred first. */
export const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    prompt: ["prompt", "text"],
    input: ["prompt", "text", "input"],
    n: ["count", "num_images"],
    size: ["size", "image_size", "resolution"],
    max_tokens: ["maxTokens"],
    max_completion_tokens: ["maxTokens"],
    max_output_tokens: ["maxTokens"],
    stop: ["stop", "stop_sequences", "stopSequences"],
    file: ["audio"],
    image: ["image", "images"],
  }),
);

/** Types of main inputs, for parameters that carry the content of a run and match no name. */
export const KINDS: ReadonlyMap<string, "text" | "image" | "audio"> = new Map(
  Object.entries({ prompt: "text", input: "text", file: "audio", image: "image" } as const),
);

/** Values at which a parameter counts as absent. */
export const NEUTRAL: ReadonlyMap<string, readonly unknown[]> = new Map(
  Object.entries({
    n: [1],
    size: ["auto"],
    quality: ["auto"],
    background: ["auto"],
    moderation: ["auto"],
    style: ["vivid"],
    output_format: ["png"],
    output_compression: [100],
    speed: [1],
    temperature: [1, "0"],
    top_p: [1],
    presence_penalty: [0],
    frequency_penalty: [0],
    tool_choice: ["auto", "none"],
    truncation: ["disabled", "auto"],
  }),
);

/** Parameters without a counterpart that don't affect the output, by endpoint. */
export const IGNORED = {
  /** Models without text input, such as upscalers, run without the prompt that OpenAI's libraries require. */
  images: new Set(["prompt", "input_fidelity"]),
  /** Models without a choice of voices or formats use their own. */
  speech: new Set(["voice", "response_format", "instructions", "stream_format"]),
  transcripts: new Set(["timestamp_granularities"]),
  text: new Set([
    "store",
    "metadata",
    "parallel_tool_calls",
    "service_tier",
    "prompt_cache_key",
    "safety_identifier",
    "include",
    "stream_options",
  ]),
} as const satisfies Record<string, ReadonlySet<string>>;
