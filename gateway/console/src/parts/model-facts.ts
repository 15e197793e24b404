import type { Model } from "@nodeloom/client";
import { AudioLines, Film, Image, MessageSquareText, type LucideIcon } from "lucide-react";
import type { Tone } from "../ui/badge";

/** What the pages of models say of one, in words. */

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

/** Names of companies as they write them; others are shown as the registry has them. */
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

/** Who runs a model. */
export const runnerOf = ({ runsAt, company }: Model): string => {
  if (runsAt !== "provider" || company === "") return PLACES[runsAt];
  return COMPANIES[company] ?? company;
};

export interface Standing {
  title: string;
  tone: Tone;
  /** What to do, or why. */
  reason?: string;
}

/** Whether a model can run now. */
export const standingOf = ({ status, statusReason, enabled }: Model): Standing => {
  const reason = statusReason === null ? {} : { reason: statusReason };
  if (status === "needs-key") return { title: "Needs a key", tone: "warn", ...reason };
  if (!enabled) return { title: "Switched off", tone: "bad" };
  if (status === "downloading") return { title: "On its way", tone: "accent", ...reason };
  if (status === "away") return { title: "Away", tone: "bad", ...reason };
  return { title: "Ready", tone: "ok" };
};

/** The day on which its provider shuts a model down, and whether it has come. */
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

/** What is ready comes first, and what providers run before what only stands in for it. */
export const bestFirst = (one: Model, other: Model): number =>
  Number(standingOf(one).tone !== "ok") - Number(standingOf(other).tone !== "ok") ||
  PLACE_ORDER.indexOf(one.runsAt) - PLACE_ORDER.indexOf(other.runsAt) ||
  one.displayName.localeCompare(other.displayName);
