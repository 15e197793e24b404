import type { Model, Price } from "@nodeloom/client";
import { TIERS } from "@nodeloom/kernel/plans";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { LoadFailure } from "../../parts/error-pages";
import { request } from "../../api/client";
import { modelsQuery } from "../../api/queries";
import { useAction } from "../../api/use-action";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";
import { Check, Field, Input, Select, TextArea } from "../../ui/inputs/field";
import { Skeleton } from "../../ui/notice";
import { Table } from "../../ui/table";
import { FallbackDialog } from "./fallback-dialog";

const PRICE_NAMES: Readonly<Record<string, string>> = {
  perRunUsd: "USD a run",
  perImageUsd: "USD an image",
  perSecondUsd: "USD a second",
  perThousandCharactersUsd: "USD per 1,000 characters",
  inputUsdPerMillionTokens: "USD per million tokens in",
  outputUsdPerMillionTokens: "USD per million tokens out",
};

const readJson = (text: string): Price | undefined => {
  try {
    return JSON.parse(text) as Price;
  } catch {
    return undefined;
  }
};

const PriceDialog = ({ model, onClose }: { model: Model; onClose: () => void }) => {
  const { busy, run } = useAction(["models"]);
  const isTable = model.price !== null && "table" in model.price;
  const entries = isTable ? [] : (Object.entries(model.price ?? {}) as [string, number][]);
  const [mistake, setMistake] = useState<string>();
  return (
    <Dialog
      title={`Price of ${model.displayName}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="price" variant="primary" busy={busy}>
            Save
          </Button>
        </>
      }
    >
      <form
        id="price"
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          const price = isTable
            ? readJson(String(data.get("table")))
            : (Object.fromEntries(entries.map(([name]) => [name, Number(data.get(name))])) as unknown as Price);
          if (price === undefined) return setMistake("This is no JSON.");
          void run(
            () => request("adminUpdateModel", { params: { internalName: model.internalName }, body: { price } }),
            "The price holds for new runs.",
          ).then(onClose);
        }}
      >
        <p className="text-sm text-muted">Wholesale; tiers add their markup.</p>
        {isTable && (
          <Field label="Prices by inputs, as JSON" error={mistake}>
            {(attributes) => (
              <TextArea {...attributes} name="table" rows={14} className="font-mono" defaultValue={JSON.stringify(model.price, null, 2)} />
            )}
          </Field>
        )}
        {entries.map(([name, amount]) => (
          <Field key={name} label={PRICE_NAMES[name] ?? name}>
            {(attributes) => <Input {...attributes} name={name} type="number" step="any" min="0" required defaultValue={amount} />}
          </Field>
        ))}
      </form>
    </Dialog>
  );
};

export const ModelsSection = () => {
  const models = useQuery(modelsQuery);
  const [pricing, setPricing] = useState<Model>();
  const [replacing, setReplacing] = useState<Model>();
  const { busy, run } = useAction(["models"]);
  if (models.isPending) return <Skeleton lines={8} />;
  if (models.isError) return <LoadFailure error={models.error} retry={() => void models.refetch()} />;
  const change = (model: Model, body: object, done: string): void =>
    void run(() => request("adminUpdateModel", { params: { internalName: model.internalName }, body }), done);
  return (
    <>
      <Table<Model>
        label="Models"
        rows={models.data}
        keyOf={({ internalName }) => internalName}
        columns={[
          {
            title: "Model",
            className: "max-md:max-w-36!",
            cell: (model) => (
              <span className="block min-w-0">
                <span className="block truncate font-medium">{model.displayName}</span>
                <code className="block truncate font-mono text-xs text-faint">{model.internalName}</code>
                <span className="mt-1 block md:hidden">
                  <PriceButton model={model} onAsk={() => setPricing(model)} />
                </span>
              </span>
            ),
          },
          { title: "Kind", wide: "widest", cell: ({ modality, provider }) => `${modality} · ${provider.kind}` },
          {
            title: "On",
            cell: (model) => (
              <Check
                label={<span className="sr-only">{model.displayName} is switched on</span>}
                checked={model.enabled}
                disabled={busy}
                onChange={(event) =>
                  change(model, { enabled: event.target.checked }, `${model.displayName} is ${event.target.checked ? "on" : "off"}.`)
                }
              />
            ),
          },
          {
            title: "From tier",
            cell: (model) => (
              <Select
                aria-label={`Lowest tier of ${model.displayName}`}
                className="h-7! w-32! text-[13px]!"
                value={model.minTier}
                disabled={busy}
                onChange={(event) => change(model, { minTier: event.target.value }, "The tier was changed.")}
              >
                {TIERS.map((tier) => (
                  <option key={tier}>{tier}</option>
                ))}
              </Select>
            ),
          },
          {
            title: "In its place",
            wide: true,
            cell: (model) => {
              const names = model.fallback.join(", ") || "none";
              return (
                <Button size="sm" aria-label={`${names}, in the place of ${model.displayName}`} onClick={() => setReplacing(model)}>
                  {names}
                </Button>
              );
            },
          },
          {
            title: "Price",
            numeric: true,
            wide: true,
            cell: (model) => <PriceButton model={model} onAsk={() => setPricing(model)} />,
          },
        ]}
      />
      {pricing && <PriceDialog model={pricing} onClose={() => setPricing(undefined)} />}
      {replacing && <FallbackDialog model={replacing} models={models.data} onClose={() => setReplacing(undefined)} />}
    </>
  );
};
const PriceButton = ({ model, onAsk }: { model: Model; onAsk: () => void }) => (
  <Button size="sm" disabled={model.price === null} onClick={onAsk}>
    {model.price !== null && "table" in model.price
      ? `${model.price.table.length} prices`
      : `${Object.values(model.price ?? {}).join(" / ") || "none"} USD`}
  </Button>
);
