import type { Model } from "@nodeloom/client";
import { AudioLines, Box, Film, Image, MessageSquareText, type LucideIcon } from "lucide-react";
import type { Tone } from "../ui/badge";
import { COMMON } from "../messages/common";
import { COMPANIES, MODEL_FACTS } from "../messages/model-parts";

/** Facts about a model as texts. */

export interface Kind {
  modality: string;
  title: string;
  icon: LucideIcon;
}

export const KINDS: readonly Kind[] = [
  { modality: "image", title: MODEL_FACTS.images, icon: Image },
  { modality: "video", title: MODEL_FACTS.video, icon: Film },
  { modality: "audio", title: MODEL_FACTS.audio, icon: AudioLines },
  { modality: "model3d", title: MODEL_FACTS.models3d, icon: Box },
  { modality: "text", title: COMMON.text, icon: MessageSquareText },
];

export const PLACES: Readonly<Record<Model["runsAt"], string>> = {
  provider: MODEL_FACTS.provider,
  local: MODEL_FACTS.thisMachine,
  sandbox: MODEL_FACTS.sandboxNoAi,
};

export const runnerOf = ({ runsAt, company }: Model): string => {
  if (runsAt !== "provider" || company === "") return PLACES[runsAt];
  return COMPANIES[company] ?? company;
};

export interface Standing {
  title: string;
  tone: Tone;
  /** Next step of the user, or the reason. */
  reason?: string;
}

/** Shows if a model can run now, and otherwise the reason. */
export const standingOf = ({ status, statusReason, enabled }: Model): Standing => {
  const reason = statusReason === null ? {} : { reason: statusReason };
  if (status === "needs-key") return { title: MODEL_FACTS.needsAnApiKey, tone: "warn", ...reason };
  if (!enabled) return { title: MODEL_FACTS.disabled, tone: "bad" };
  if (status === "downloading") return { title: MODEL_FACTS.downloading, tone: "accent", ...reason };
  if (status === "away") return { title: MODEL_FACTS.unavailable, tone: "bad", ...reason };
  return { title: MODEL_FACTS.ready, tone: "ok" };
};

/** Day on which a provider shuts down a model; `isOver` is true after that day. */
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

/** Sorts ready models first, then providers' models before sandbox ones. */
export const bestFirst = (one: Model, other: Model): number =>
  Number(standingOf(one).tone !== "ok") - Number(standingOf(other).tone !== "ok") ||
  PLACE_ORDER.indexOf(one.runsAt) - PLACE_ORDER.indexOf(other.runsAt) ||
  one.displayName.localeCompare(other.displayName);
