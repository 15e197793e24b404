import type { Model } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { KeyRound, type LucideIcon } from "lucide-react";
import { titled } from "../../ui/format";
import { meQuery } from "../../api/queries";
import { priceWords } from "../../api/prices";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Example } from "./examples/example";
import { retirementOf, runnerOf, standingOf } from "../../parts/model-facts";
import { MODEL_CARD } from "../../messages/models";

/** Notice of a provider's shutdown of a model. */
export const Retirement = ({ model }: { model: Model }) => {
  const retirement = retirementOf(model);
  if (!retirement) return null;
  return (
    <Badge
      tone={retirement.isOver ? "bad" : "warn"}
    >{`${retirement.isOver ? MODEL_CARD.shutDownOn : MODEL_CARD.shutsDownOn} ${retirement.day}`}</Badge>
  );
};

const useFreeRuns = ({ internalName, trialRuns }: Model): number => {
  const { data: me } = useQuery(meQuery);
  return me?.credits.grants.find(({ model }) => model === internalName)?.remaining ?? trialRuns;
};

/** A model in the list. Administrators get `onAddKey` if a key is missing. */
export const ModelCard = ({ model, icon: Icon, onAddKey }: { model: Model; icon: LucideIcon; onAddKey?: (() => void) | undefined }) => {
  const standing = standingOf(model);
  const free = useFreeRuns(model);
  return (
    <li className="relative flex min-w-0 flex-col rounded-2xl border bg-surface p-4 transition-shadow hover:shadow-panel">
      <div className="flex items-start gap-3">
        <span className="flex size-9 shrink-0 items-center justify-center rounded-xl bg-sunken text-muted">
          <Icon className="size-4.5" aria-hidden />
        </span>
        <div className="min-w-0 flex-1">
          <Link
            to="/models/$internalName"
            params={{ internalName: model.internalName }}
            className="font-semibold wrap-anywhere after:absolute after:inset-0 after:rounded-2xl"
          >
            {model.displayName}
          </Link>
          <p className="truncate text-xs text-muted">{runnerOf(model)}</p>
        </div>
        <Badge tone={standing.tone}>{standing.title}</Badge>
      </div>
      <p className="mt-2.5 line-clamp-2 text-[13px] text-muted wrap-anywhere">{model.description}</p>
      <Example model={model} className="mt-3 max-h-36" />
      {standing.reason !== undefined && model.status !== "needs-key" && (
        <p className="mt-1.5 text-xs text-faint wrap-anywhere">{standing.reason}</p>
      )}
      <div className="mt-2.5 flex flex-wrap gap-1 empty:hidden">
        {model.minTier !== "free" && <Badge>{MODEL_CARD.plan(titled(model.minTier))}</Badge>}
        {free > 0 && <Badge tone="ok">{MODEL_CARD.trialRuns(free, Math.max(free, model.trialRuns))}</Badge>}
        <Retirement model={model} />
      </div>
      <div className="mt-auto flex min-h-10 items-end justify-between gap-2 pt-3">
        <p className="text-[13px] font-medium">{priceWords(model)}</p>
        {onAddKey && (
          <Button size="sm" icon={KeyRound} className="relative z-10" onClick={onAddKey}>
            {MODEL_CARD.addApiKey}
          </Button>
        )}
      </div>
    </li>
  );
};
