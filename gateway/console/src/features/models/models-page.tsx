import type { Model, ProviderKeys } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Boxes, KeyRound, SearchX } from "lucide-react";
import { useState } from "react";
import { LoadFailure } from "../../parts/error-pages";
import { meQuery, modelsQuery } from "../../api/queries";
import { providerKeysQuery } from "./queries";
import { Button } from "../../ui/button";
import { Check, Input, Select } from "../../ui/inputs/field";
import { Empty, Skeleton } from "../../ui/notice";
import { Page } from "../../ui/page";
import { ServersButton } from "./servers/servers-button";
import { bestFirst, fits, KINDS, PLACES, type Filter, type Kind } from "../../parts/model-facts";
import { ImportModelButton } from "./import-model";
import { KeyDialog } from "./key-dialog";
import { KeysDialog } from "./keys-dialog";
import { LocalProgress } from "./local-progress";
import { ModelCard } from "./model-card";
import { COMMON } from "../../messages/common";
import { MODELS_PAGE } from "../../messages/models";

const EVERYTHING: Filter = { query: "", modality: "", place: "", readyOnly: false };
/** Interval of reloads while models change: key changes appear with a delay, and files one by one. */
const CHANGING_MS = 1_000;

const Filters = ({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) => (
  <div className="mb-5 flex flex-wrap items-center gap-2">
    <Input
      type="search"
      aria-label={MODELS_PAGE.searchModels}
      placeholder={MODELS_PAGE.searchModels}
      className="min-w-48 flex-1"
      value={filter.query}
      onText={(text) => onChange({ ...filter, query: text })}
    />
    <Select
      aria-label={MODELS_PAGE.type}
      className="w-32!"
      value={filter.modality}
      onText={(text) => onChange({ ...filter, modality: text })}
      options={KINDS.map(({ modality, title }) => [modality, title])}
    >
      <option value="">{MODELS_PAGE.allTypes}</option>
    </Select>
    <Select
      aria-label={MODELS_PAGE.runsAt}
      className="w-36!"
      value={filter.place}
      onText={(text) => onChange({ ...filter, place: text })}
      options={Object.entries(PLACES)}
    >
      <option value="">{MODELS_PAGE.allProviders}</option>
    </Select>
    <Check label={MODELS_PAGE.readyOnly} checked={filter.readyOnly} onCheck={(isOn) => onChange({ ...filter, readyOnly: isOn })} />
  </div>
);

const Group = ({
  kind,
  models,
  onAddKey,
}: {
  kind: Kind;
  models: readonly Model[];
  onAddKey: (model: Model) => (() => void) | undefined;
}) => (
  <section aria-labelledby={`makes-${kind.modality}`} className="mb-8">
    <h2 id={`makes-${kind.modality}`} className="mb-3 flex items-baseline gap-2 text-[15px] font-semibold">
      {kind.title} <span className="text-xs font-normal text-faint">{models.length}</span>
    </h2>
    <ul className="grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-3">
      {models.map((model) => (
        <ModelCard key={model.internalName} model={model} icon={kind.icon} onAddKey={onAddKey(model)} />
      ))}
    </ul>
  </section>
);

/** True while the models don't reflect the current keys. */
const isBehind = (models: readonly Model[], { keys }: ProviderKeys): boolean => {
  const waiting = new Set(models.filter(({ status }) => status === "needs-key").map(({ internalName }) => internalName));
  return keys.some(({ source, models: needing }) => needing.some((name) => waiting.has(name) === (source !== null)));
};

const route = getRouteApi("/shell/models");

export const ModelsPage = () => {
  const { open: openedPart } = route.useSearch();
  const { data: me } = useQuery(meQuery);
  const keys = useQuery({ ...providerKeysQuery, enabled: me?.user.role === "admin" });
  const models = useQuery({
    ...modelsQuery,
    refetchInterval: ({ state: { data = [] } }) => {
      const isChanging = data.some(({ status }) => status === "downloading") || (keys.data !== undefined && isBehind(data, keys.data));
      return isChanging ? CHANGING_MS : false;
    },
  });
  const [filter, setFilter] = useState(EVERYTHING);
  /** The key being edited, or all keys. */
  const [open, setOpen] = useState<string | "all" | undefined>(openedPart === "keys" ? "all" : undefined);
  const keyOf = ({ internalName }: Model) => keys.data?.keys.find((key) => key.models.includes(internalName));
  const openKey = keys.data?.keys.find(({ name }) => name === open);
  const matches = models.data?.filter((model) => fits(model, filter)).sort(bestFirst) ?? [];
  const onAddKey = (model: Model): (() => void) | undefined => {
    const key = model.status === "needs-key" ? keyOf(model) : undefined;
    return key && (() => setOpen(key.name));
  };
  return (
    <Page
      title={COMMON.models}
      lead={MODELS_PAGE.subtitle}
      actions={
        <>
          {me?.user.role === "admin" && <ImportModelButton />}
          <ServersButton isAdding={openedPart === "server"} />
          {keys.data && (
            <Button icon={KeyRound} onClick={() => setOpen("all")}>
              {MODELS_PAGE.providerApiKeys}
            </Button>
          )}
        </>
      }
    >
      <LocalProgress />
      <Filters filter={filter} onChange={setFilter} />
      {models.isPending && <Skeleton lines={6} />}
      {models.isError && <LoadFailure error={models.error} retry={() => void models.refetch()} />}
      {models.data?.length === 0 && <Empty icon={Boxes} title={MODELS_PAGE.empty} />}
      {matches.length === 0 && models.data && models.data.length > 0 && (
        <Empty
          icon={SearchX}
          title={MODELS_PAGE.noMatchingModels}
          actions={<Button onClick={() => setFilter(EVERYTHING)}>{MODELS_PAGE.showAll}</Button>}
        />
      )}
      {KINDS.map((kind) => {
        const some = matches.filter(({ modality }) => modality === kind.modality);
        return some.length > 0 && <Group key={kind.modality} kind={kind} models={some} onAddKey={onAddKey} />;
      })}
      {open === "all" && keys.data && <KeysDialog list={keys.data} onChoose={setOpen} onClose={() => setOpen(undefined)} />}
      {openKey && <KeyDialog key={openKey.name} providerKey={openKey} onClose={() => setOpen(undefined)} />}
    </Page>
  );
};
