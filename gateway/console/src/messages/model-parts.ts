export const MODEL_FACTS = {
  images: "Images",
  video: "Video",
  audio: "Audio",
  models3d: "3D models",
  provider: "Provider",
  thisMachine: "This machine",
  sandboxNoAi: "Sandbox (no AI)",
  needsAnApiKey: "Needs an API key",
  disabled: "Disabled",
  downloading: "Downloading",
  unavailable: "Unavailable",
  ready: "Ready",
};

export const MODEL_LIST = {
  fallbackModels: "Fallback models, in order",
  fallbackModel: (index: number) => `Fallback model ${index}`,
  notAvailable: (name: string) => `${name} (not available)`,
  remove: (name: string) => `Remove ${name}`,
  add: "Add a fallback model",
  addAnother: "Add another",
  hint: "If a model rejects the call, is unavailable or fails, the next one is called. The highest price is held; you pay for what was used.",
};

/** Spelling of company names. Other names are shown as in the registry. */
export const COMPANIES: Readonly<Record<string, string>> = {
  anthropic: "Anthropic",
  elevenlabs: "ElevenLabs",
  google: "Google",
  kling: "Kling",
  luma: "Luma",
  openai: "OpenAI",
  openrouter: "OpenRouter",
  replicate: "Replicate",
  runway: "Runway",
};
