import type { Model } from "@nodeloom/client";
import { AudioLines, Film, Image, MessageSquareText, type LucideIcon } from "lucide-react";
import type { Tone } from "../ui/badge";

/** Facts about a model as texts. */

export interface Kind {
  modality: string;
  title: string;
  icon: LucideIcon;
}

export const KINDS: readonly Kind[] = [
  { modality: "image", title: "Images", icon: Image },
  { modality: "video", title: "Video", icon: Film },
  { modality: "audio", title: "Sound", icon: AudioLines },
  { modality: "text", title: "Text", icon: MessageSquareText },
];

export const PLACES: Readonly<Record<Model["runsAt"], string>> = { provider: "Provider", local: "This machine", sandbox: "Sandbox, no AI" };

/** Spelling of company names; others are shown as in the registry. */
const COMPANIES: Readonly<Record<string, string>> = {
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

export const runnerOf = ({ runsAt, company }: Model): string => {
  if (runsAt !== "provider" || company === "") return PLACES[runsAt];
  return COMPANIES[company] ?? company;
};

export interface Standing {
  title: string;
  tone: Tone;
  /** Next step, or the reason. */
  reason?: string;
}

/** True if a model can run now, and why not. */
export const standingOf = ({ status, statusReason, enabled }: Model): Standing => {
  const reason = statusReason === null ? {} : { reason: statusReason };
  if (status === "needs-key") return { title: "Needs a key", tone: "warn", ...reason };
  if (!enabled) return { title: "Switched off", tone: "bad" };
  if (status === "downloading") return { title: "On its way", tone: "accent", ...reason };
  if (status === "away") return { title: "Away", tone: "bad", ...reason };
  return { title: "Ready", tone: "ok" };
};

/** Day of a provider's shutdown of a model, and whether it has come. */
export const retirementOf = (model: Model, now = new Date()): { day: string; isOver: boolean } | undefined => {
  const { retiresOn: day } = model;
  return day === null ? undefined : { day, isOver: new Date(day) <= now };
};

export interface Filter {
  query: string;
  modality: string;
  place: string;
  readyOnly: boolean;
}

export const fits = (model: Model, { query, modality, place, readyOnly }: Filter): boolean => {
  const text = `${model.displayName} ${model.internalName} ${model.description} ${runnerOf(model)} ${model.tasks.join(" ")}`.toLowerCase();
  return (
    (modality === "" || model.modality === modality) &&
    (place === "" || model.runsAt === place) &&
    (!readyOnly || standingOf(model).tone === "ok") &&
    query.toLowerCase().split(/\s+/).every((word) => text.includes(word)) // prettier-ignore
  );
};

const PLACE_ORDER = ["provider", "local", "sandbox"];

/** Ready models first, then providers' models before sandbox ones. */
export const bestFirst = (one: Model, other: Model): number =>
  Number(standingOf(one).tone !== "ok") - Number(standingOf(other).tone !== "ok") ||
  PLACE_ORDER.indexOf(one.runsAt) - PLACE_ORDER.indexOf(other.runsAt) ||
  one.displayName.localeCompare(other.displayName);
