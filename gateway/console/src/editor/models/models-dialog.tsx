import type { Model } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Check, Sparkles } from "lucide-react";
import { useState } from "react";
import { priceWords } from "../../api/prices";
import { tasksQuery } from "../../api/queries";
import { kindOf } from "../../canvas/kinds";
import { Example } from "../../features/models/examples/example";
import { MODELS_DIALOG } from "../../messages/editor/models";
import { bestFirst, fits, runnerOf, standingOf } from "../../parts/model-facts";
import { speedOf } from "../../runs/speeds";
import { Badge } from "../../ui/badge";
import { classes } from "../../ui/classes";
import { duration, titled } from "../../ui/format";
import { Input } from "../../ui/inputs/field";
import { Dialog } from "../../ui/overlays/dialog";
import { selectedNodes } from "../chosen";
import { useEditor } from "../context";
import { useSetting, useWired } from "../inspector/use-setting";
import type { DocNode } from "../../document/graph";
import type { OverlayProps } from "../dialogs/lists";

const CARD = "relative flex min-w-0 flex-col rounded-xl border bg-surface p-3 text-left hover:border-line-strong";
const COVER = "font-semibold wrap-anywhere after:absolute after:inset-0 after:rounded-xl";

interface ChoiceProps {
  isChosen: boolean;
  onChoose: () => void;
}

const Chosen = () => <Check className="size-4 shrink-0 text-accent-text" aria-label={MODELS_DIALOG.chosen} role="img" />;

/** A model with a sample, price, speed and location. */
const ModelCard = ({ model, isChosen, onChoose }: ChoiceProps & { model: Model }) => {
  const standing = standingOf(model);
  const ms = speedOf(model.internalName);
  return (
    <li className={classes(CARD, isChosen && "border-accent!")}>
      <div className="mb-2 flex h-32 items-center justify-center overflow-hidden rounded-lg bg-sunken empty:hidden">
        <Example model={model} className="max-h-32" />
      </div>
      <div className="flex items-start gap-2">
        <button type="button" className={classes(COVER, "min-w-0 flex-1 text-left")} onClick={onChoose}>
          {model.displayName}
        </button>
        {isChosen && <Chosen />}
        {standing.tone !== "ok" && <Badge tone={standing.tone}>{standing.title}</Badge>}
      </div>
      <p className="mt-1 line-clamp-2 text-xs text-muted wrap-anywhere">{standing.reason ?? model.description}</p>
      <dl className="mt-auto grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 pt-2.5 text-xs">
        <dt className="text-faint">{MODELS_DIALOG.price}</dt>
        <dd className="text-right font-medium">{priceWords(model)}</dd>
        <dt className="text-faint">{MODELS_DIALOG.speed}</dt>
        <dd className="text-right">{ms === undefined ? MODELS_DIALOG.notRunYet : MODELS_DIALOG.about(duration(ms))}</dd>
        <dt className="text-faint">{MODELS_DIALOG.runsAt}</dt>
        <dd className="text-right">{runnerOf(model)}</dd>
        {model.minTier !== "free" && (
          <>
            <dt className="text-faint">{MODELS_DIALOG.plan}</dt>
            <dd className="text-right">{MODELS_DIALOG.from(titled(model.minTier))}</dd>
          </>
        )}
      </dl>
    </li>
  );
};

/** Lets the service choose the best ready model of a task. */
const TaskCard = ({ title, now, isChosen, onChoose }: ChoiceProps & { title: string; now: string | undefined }) => (
  <li className={classes(CARD, "flex-row items-center gap-2.5", isChosen && "border-accent!")}>
    <Sparkles className="size-4 shrink-0 text-accent-text" aria-hidden />
    <span className="min-w-0 flex-1">
      <button type="button" className={classes(COVER, "text-left text-sm")} onClick={onChoose}>
        {title}
      </button>
      <span className="block truncate text-xs text-muted">{now === undefined ? MODELS_DIALOG.noneIsReady : MODELS_DIALOG.now(now)}</span>
    </span>
    {isChosen && <Chosen />}
  </li>
);

export interface ModelChoicesProps {
  node: DocNode;
  /** True to also offer tasks, which choose among models. */
  hasTasks?: boolean;
  /** Model that can't be chosen. */
  except?: string | undefined;
  onChoose: (name: string) => void;
}

/** Number of linked inputs that a model doesn't have. */
const lacking = ({ inputSchema }: Model, wired: ReadonlyMap<string, string>): number => {
  const { properties = {} } = inputSchema as { properties?: object };
  return [...wired.keys()].filter((name) => !Object.hasOwn(properties, name)).length;
};

/** Models that a node can have. Those that take its linked inputs are first. */
export const ModelChoices = ({ node, hasTasks = false, except, onChoose }: ModelChoicesProps) => {
  const { models } = useEditor();
  const [query, setQuery] = useState("");
  const { modality } = kindOf(node.type);
  const wired = useWired(node.id);
  const tasks = useQuery(tasksQuery).data?.filter((task) => task.modality === modality) ?? [];
  const filter = { query: query.trim(), modality: modality ?? "", place: "", readyOnly: false };
  const matches = models
    .filter((model) => model.enabled && model.internalName !== except && fits(model, filter))
    .toSorted((one, other) => lacking(one, wired) - lacking(other, wired) || bestFirst(one, other));
  const titleOf = (name: string | null): string | undefined => models.find(({ internalName }) => internalName === name)?.displayName;
  return (
    <>
      <Input
        type="search"
        aria-label={MODELS_DIALOG.searchModels}
        placeholder={MODELS_DIALOG.searchModels}
        value={query}
        onText={setQuery}
      />
      {hasTasks && query === "" && tasks.length > 0 && (
        <ul className="mt-4 grid grid-cols-1 gap-2.5 sm:grid-cols-2 lg:grid-cols-3" aria-label={MODELS_DIALOG.automaticChoices}>
          {tasks.map(({ name, summary, model }) => (
            <TaskCard
              key={name}
              title={MODELS_DIALOG.automatic(summary)}
              now={titleOf(model)}
              isChosen={node.data.model === name}
              onChoose={() => onChoose(name)}
            />
          ))}
        </ul>
      )}
      <ul className="mt-4 grid grid-cols-1 gap-2.5 sm:grid-cols-2 lg:grid-cols-3" aria-label={MODELS_DIALOG.models}>
        {matches.map((model) => (
          <ModelCard
            key={model.internalName}
            model={model}
            isChosen={node.data.model === model.internalName}
            onChoose={() => onChoose(model.internalName)}
          />
        ))}
      </ul>
      {matches.length === 0 && <p className="py-6 text-center text-sm text-muted">{MODELS_DIALOG.noMatch(query)}</p>}
    </>
  );
};

const Choices = ({ node, onClose }: { node: DocNode; onClose: () => void }) => {
  const { set } = useSetting(node);
  const choose = (name: string): void => {
    set(["model"], name, MODELS_DIALOG.chooseAModel);
    onClose();
  };
  return <ModelChoices node={node} hasTasks onChoose={choose} />;
};

/** Chooses the model of the selected node. */
export const ModelsDialog = ({ onClose }: OverlayProps) => {
  const editor = useEditor();
  const [node] = selectedNodes(editor);
  if (!node) return null;
  return (
    <Dialog title={MODELS_DIALOG.chooseAModel} width="lg" onClose={onClose}>
      <Choices node={node} onClose={onClose} />
    </Dialog>
  );
};
