/** Node types and ports of the API that imported nodes become. */
export const TYPES = {
  image: "generate-image",
  video: "generate-video",
  audio: "generate-audio",
  model3d: "generate-3d",
  text: "text-box",
  chat: "llm-assistant",
  media: "media",
  file: "media-upload",
  result: "response-output",
  note: "note",
} as const;

export const LOCAL_UPSCALE = "local-upscale";
export const LOCAL_CUTOUT = "local-cutout";

/** Members of a result. */
export const RESULT_PORTS = { image: "images", video: "videos", audio: "audios", model3d: "models3d", text: "text" } as const;
