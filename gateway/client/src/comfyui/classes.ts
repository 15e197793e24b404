import { isLink, type ComfyNode } from "./graph";

/** Roles of ComfyUI's node classes, by their names. */

export type Role =
  | "text"
  | "join"
  | "chat"
  | "sampler"
  | "partner"
  | "upscale"
  | "cutout"
  | "resize"
  | "crop"
  | "stitch"
  | "file"
  | "result"
  | "note"
  | "inside"
  | "other";

/** Classes of partners' APIs start or end with a partner's name. */
const PARTNER =
  /^(?:Bria|Beeble|ByteDance|Kling|LtxApi|Flux(?:Kontext|Pro|\d)\w*Node|Runway|Luma|Recraft|Ideogram|Gemini|Grok|OpenAI|Vidu|Pixverse)|(?:Api|Node(?:V?\d+|Gen\d)?|TextTo(?:Music|SFX|SoundEffects|Speech|Dialogue)|SeedAudio)$/;
/** Classes for video processing and for file types that no model here supports. */
const NO_COUNTERPART =
  /Voice(?:Selector|Clone|Changer)|Model|Rig|Texture|SVG|Vector|Color|Controls|RemoveVideoBackground|VideoBackground|GreenScreen|Video(?:Enhance|Upscale)|Isolation|CleanAudio/;

/** Classes of partners' APIs that make a 3D model of a text or of pictures: Tripo, Tencent's Hunyuan3D, Meshy, Rodin, Hitem3D. */
const SHAPE_MAKER = /(?:Text|Image|Multi[Vv]iew)ToModel(?:Node)?$|^Rodin3D_|^Hi[Tt]em3D/;
export const isShapeMaker = ({ type }: ComfyNode): boolean => SHAPE_MAKER.test(type);

const ROLES: readonly (readonly [RegExp, Role])[] = [
  [/^(?:Note|MarkdownNote)$/, "note"],
  [/^(?:CLIPTextEncode|TextEncode|smZ CLIPTextEncode|PrimitiveString|StringConstant|Text Multiline|Text$|ImpactWildcard|ShowText)/, "text"],
  [/^(?:StringConcatenate|Text Concatenate|JoinStrings)/, "join"],
  [SHAPE_MAKER, "partner"],
  [/^(?:TextGenerate|GeminiNode|OpenAIChatNode|ClaudeNode|OpenRouterLLMNode|ByteDanceLLM|OllamaGenerate|GrokLLM)/, "chat"],
  [/^(?:KSamplerSelect|Sampler(?!Custom)|KarrasScheduler|BasicScheduler)/, "inside"],
  [/^(?:UltimateSDUpscale|ImageUpscaleWithModel|SeedVR2PostProcessing)/, "upscale"],
  [/^(?!.*(?:Video|Latent)).*(?:Upscale.*Node|ImageEnhance|IncreaseResolution)/, "upscale"],
  [/^(?!.*(?:Video|Load)).*(?:Remove(?:Image)?Background|RMBG|[Rr]embg|BiRefNet)/, "cutout"],
  [/KSampler|^SamplerCustom|^Sampler /, "sampler"],
  [/^ImageScale$/, "resize"],
  [/^ImageCrop$/, "crop"],
  [/^(?:ImageStitch|ImageConcat)/, "stitch"],
  [/^(?:LoadImage|LoadVideo|LoadAudio|Load3D|VHS_Load(?:Video|Audio|Image)|RecordAudio)/, "file"],
  [/^(?:Save|Preview)(?:Image|Video|Audio|Animated|WEBM|WEBP|SVG|GLB|3D)|^(?:VHS_VideoCombine|PreviewAny|SaveText|Image Save)/, "result"],
  [
    /Loader|^(?:VAE|Empty|ModelSampling|ModelAttention|Flux(?:Guidance|KontextImageScale|KontextMulti)|Conditioning|BasicGuider|CFG|DualCFG|RandomNoise)/,
    "inside",
  ],
  [
    /^(?:Latent|Voxel|Reroute|Primitive|Manual|Disable|CLIP|GetImageSize|CreateVideo|GetVideoComponents|ComfySwitch|ComfyMath|LTXV)/,
    "inside",
  ],
  [
    /^(?:ImageScale|ResizeImage|ReferenceLatent|SkipLayer|Seed|RescaleCFG|Batch|ImageFromBatch|ImageBatch|SplitSigmas|SetNode|GetNode)/,
    "inside",
  ],
  [/^(?:Wan|Hunyuan|Cosmos|MiniMaxH3|Flux2Scheduler|SetFirstSigma|PreviewSampling|ResolutionSelector|ImageCompare)(?!.*Api$)/, "inside"],
];

export const roleOf = ({ type, outputs }: ComfyNode): Role => {
  const isMade = outputs.length === 0 || outputs.some((output) => ["IMAGE", "VIDEO", "AUDIO"].includes(output));
  const role = ROLES.find(([pattern]) => pattern.test(type))?.[1];
  if (role !== undefined) return role;
  return isMade && PARTNER.test(type) && !NO_COUNTERPART.test(type) ? "partner" : "other";
};

/** Names of widgets in the order in which the editor saves their values. */
const WIDGETS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^KSampler$/, ["seed", "control", "steps", "cfg", "sampler_name", "scheduler", "denoise"]],
  [/^KSamplerAdvanced$/, ["add_noise", "noise_seed", "control", "steps", "cfg"]],
  [/^SamplerCustom$/, ["add_noise", "noise_seed", "control", "cfg"]],
  [/^RandomNoise$/, ["noise_seed", "control"]],
  [
    /^(?:EmptyHunyuan\w*Video|EmptyLTXV\w*|EmptyMochi\w*|EmptyCosmos\w*|Wan\w*ToVideo|Hunyuan\w*ToVideo)/,
    ["width", "height", "length", "batch_size"],
  ],
  [/^Empty\w*Latent/, ["width", "height", "batch_size"]],
  [/^ImageScale$/, ["upscale_method", "width", "height", "crop"]],
  [/^ImageCrop$/, ["width", "height", "x", "y"]],
  [/^(?:CreateVideo|SaveAnimated\w+)$/, ["fps"]],
  [/^VHS_VideoCombine$/, ["frame_rate"]],
  [/^(?:Primitive(?:Int|Float|Node|Boolean|String\w*)|SeedNode)$/, ["value"]],
  [/^ComfySwitchNode$/, ["switch"]],
  [/^StringConcatenate$/, ["string_a", "string_b", "delimiter"]],
  [/^(?:SetNode|GetNode)$/, ["name"]],
];

/** A value of a node's input that isn't linked. */
export const valueOf = (node: ComfyNode, name: string): unknown => {
  const input = node.inputs.get(name);
  if (input) return isLink(input) ? undefined : input.value;
  const at = WIDGETS.find(([pattern]) => pattern.test(node.type))?.[1].indexOf(name) ?? -1;
  return at < 0 ? undefined : node.widgets[at];
};

/** Inputs that contain the text of a node. */
export const WORDS: readonly string[] = ["text", "prompt", "text_g", "t5xxl", "tags", "value", "string", "model.prompt", "string_a"];

/** The editor saves the progress of the last run among a partner's widgets. */
const STATUS = /^Status: /;

/** Text of a node: a named value, or the longest text of its widgets. */
export const wordsOf = (node: ComfyNode): string => {
  for (const name of WORDS) {
    const input = node.inputs.get(name);
    if (input && !isLink(input) && typeof input.value === "string") return input.value;
  }
  const texts = node.widgets.filter((value): value is string => typeof value === "string" && !STATUS.test(value));
  const longest = texts.reduce((best, text) => (text.length > best.length ? text : best), "");
  // The editor saves choices, such as a size or a model, as texts.
  return roleOf(node) === "partner" && !/\s/.test(longest.trim()) ? "" : longest;
};
