import type { Model } from "@nodeloom/client";
import { titled } from "../../ui/format";
import { Badge, type Tone } from "../../ui/badge";
import { MODEL_STATE } from "../../messages/editor/palette";

const WORDS: Readonly<Partial<Record<Model["status"], { tone: Tone; words: string }>>> = {
  "needs-key": { tone: "warn", words: MODEL_STATE.needsKey },
  downloading: { tone: "accent", words: MODEL_STATE.downloading },
  away: { tone: "warn", words: MODEL_STATE.unavailable },
};

/** Reason why a model can't run now, in a few words; undefined if it can. */
export const modelState = ({ status }: Pick<Model, "status">): string | undefined => WORDS[status]?.words;

/** Mark for a model that can't run now. */
export const ModelState = ({ model }: { model: Pick<Model, "status" | "statusReason"> }) => {
  const stateWords = WORDS[model.status];
  if (!stateWords) return null;
  return (
    <span className="ml-1.5" title={model.statusReason ?? undefined}>
      <Badge tone={stateWords.tone}>{stateWords.words}</Badge>
    </span>
  );
};

/** Location of a model that doesn't run at a provider. */
export const placeWords = ({ runsAt }: Pick<Model, "runsAt">): string | undefined =>
  ({ local: MODEL_STATE.thisMachine, sandbox: MODEL_STATE.sandboxNoAi, provider: undefined })[runsAt];

/** A model with its location, state and plan. */
export const modelWords = (model: Model): string => {
  const { displayName, minTier } = model;
  return [displayName, placeWords(model), modelState(model), minTier === "free" ? undefined : MODEL_STATE.plan(titled(minTier))]
    .filter(Boolean)
    .join(" · ");
};
