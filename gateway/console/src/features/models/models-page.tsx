import type { Model } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Boxes, SearchX } from "lucide-react";
import { useState } from "react";
import { LoadFailure } from "../../app/error-pages";
import { priceWords } from "../../api/prices";
import { modelsQuery } from "../../api/queries";
import { Badge } from "../../ui/badge";
import { Input, Select } from "../../ui/inputs/field";
import { Empty, Skeleton } from "../../ui/notice";
import { Page } from "../../ui/page";
import { ServersButton } from "./servers/servers-button";

const MODALITIES = ["image", "video", "audio", "text"] as const;

const ModelCard = ({ model }: { model: Model }) => (
  <li className="relative flex min-w-0 flex-col rounded-2xl border bg-surface p-4 transition-shadow hover:shadow-panel">
    <Link
      to="/models/$internalName"
      params={{ internalName: model.internalName }}
      className="font-semibold wrap-anywhere after:absolute after:inset-0"
    >
      {model.displayName}
    </Link>
    <code className="truncate font-mono text-xs text-faint">{model.internalName}</code>
    <p className="mt-2 line-clamp-3 text-[13px] text-muted wrap-anywhere">{model.description}</p>
    <div className="mt-3 flex flex-wrap gap-1">
      <Badge tone="accent">{model.modality}</Badge>
      {model.sandbox && <Badge tone="warn">sandbox, no AI</Badge>}
      {!model.enabled && <Badge tone="bad">switched off</Badge>}
      {model.minTier !== "free" && <Badge>from {model.minTier}</Badge>}
      {model.asyncSupported && <Badge>async</Badge>}
      {model.trialRuns > 0 && <Badge tone="ok">{model.trialRuns} trial runs</Badge>}
    </div>
    <p className="mt-auto pt-3 text-xs text-faint">{priceWords(model)}</p>
  </li>
);

export const ModelsPage = () => {
  const models = useQuery(modelsQuery);
  const [query, setQuery] = useState("");
  const [modality, setModality] = useState("");
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = models.data?.filter((model) => {
    const text = `${model.displayName} ${model.internalName} ${model.description}`.toLowerCase();
    return (modality === "" || model.modality === modality) && words.every((word) => text.includes(word));
  });
  return (
    <Page title="Models" lead="What generators and assistants can call. Prices are for your tier." actions={<ServersButton />}>
      <div className="mb-4 flex flex-wrap gap-2">
        <Input
          type="search"
          aria-label="Search models"
          placeholder="Search models"
          className="min-w-48 flex-1"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
        <Select aria-label="Kind" className="w-40!" value={modality} onChange={(event) => setModality(event.target.value)}>
          <option value="">Every kind</option>
          {MODALITIES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
      </div>
      {models.isPending && <Skeleton lines={6} />}
      {models.isError && <LoadFailure error={models.error} retry={() => void models.refetch()} />}
      {models.data?.length === 0 && <Empty icon={Boxes} title="No models are switched on" />}
      {found?.length === 0 && models.data && models.data.length > 0 && <Empty icon={SearchX} title="No model fits" />}
      <ul className="grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {found?.map((model) => (
          <ModelCard key={model.internalName} model={model} />
        ))}
      </ul>
    </Page>
  );
};
