import type { Model, Price } from "@nodeloom/client";
import { TIERS } from "@nodeloom/kernel/plans";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog } from "../../parts/form";
import { Loaded } from "../../parts/loaded";
import { request } from "../../api/client";
import { modelsQuery } from "../../api/queries";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { titled } from "../../ui/format";
import { AreaField, Check, InputField, Select } from "../../ui/inputs/field";
import { Table } from "../../ui/table";
import { FallbackDialog } from "./fallback-dialog";
import { COMMON } from "../../messages/common";
import { MODELS } from "../../messages/admin-models";

const PRICE_NAMES: Readonly<Record<string, string>> = {
  perRunUsd: MODELS.usdPerRun,
  perImageUsd: MODELS.usdPerImage,
  perSecondUsd: MODELS.usdPerSecond,
  perThousandCharactersUsd: MODELS.usdPer1000Characters,
  inputUsdPerMillionTokens: MODELS.usdPerMillionInputTokens,
  outputUsdPerMillionTokens: MODELS.usdPerMillionOutputTokens,
};

const readJson = (text: string): Price => {
  try {
    return JSON.parse(text) as Price;
  } catch {
    throw new Error(MODELS.notJson);
  }
};

const PriceDialog = ({ model, onClose }: { model: Model; onClose: () => void }) => {
  const isTable = model.price !== null && "table" in model.price;
  const entries = isTable ? [] : (Object.entries(model.price ?? {}) as [string, number][]);
  const submit = async (data: FormData): Promise<void> => {
    const price = isTable
      ? readJson(String(data.get("table")))
      : (Object.fromEntries(entries.map(([name]) => [name, Number(data.get(name))])) as unknown as Price);
    await request("adminUpdateModel", { params: { internalName: model.internalName }, body: { price } });
  };
  return (
    <FormDialog
      title={MODELS.priceOf(model.displayName)}
      action={COMMON.save}
      reads={["models"]}
      submit={submit}
      successText={MODELS.priceSaved}
      onClose={onClose}
    >
      <p className="text-sm text-muted">{MODELS.priceHint}</p>
      {isTable && (
        <AreaField
          label={MODELS.pricesByInputsJson}
          name="table"
          rows={14}
          className="font-mono"
          defaultValue={JSON.stringify(model.price, null, 2)}
        />
      )}
      {entries.map(([name, amount]) => (
        <InputField
          key={name}
          label={PRICE_NAMES[name] ?? name}
          name={name}
          type="number"
          step="any"
          min="0"
          required
          defaultValue={amount}
        />
      ))}
    </FormDialog>
  );
};

export const ModelsSection = () => {
  const models = useQuery(modelsQuery);
  const [pricing, setPricing] = useState<Model>();
  const [replacing, setReplacing] = useState<Model>();
  const { busy, run } = useChange("models");
  const change = (model: Model, body: object, doneMessage: string): void =>
    void run(() => request("adminUpdateModel", { params: { internalName: model.internalName }, body }), doneMessage);
  return (
    <Loaded of={models} lines={8}>
      {(rows) => (
        <>
          <Table<Model>
            label={COMMON.models}
            rows={rows}
            keyOf={({ internalName }) => internalName}
            columns={[
              {
                title: COMMON.model,
                className: "max-xl:max-w-44! max-md:max-w-32!",
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
              { title: MODELS.type, wide: "widest", cell: ({ modality, provider }) => `${modality} · ${provider.kind}` },
              {
                title: MODELS.enabled,
                cell: (model) => (
                  <Check
                    label={<span className="sr-only">{MODELS.enable(model.displayName)}</span>}
                    checked={model.enabled}
                    disabled={busy}
                    onCheck={(isOn) => change(model, { enabled: isOn }, MODELS.enabledNotice(model.displayName, isOn))}
                  />
                ),
              },
              {
                title: MODELS.minimumPlan,
                cell: (model) => (
                  <Select
                    aria-label={MODELS.minimumPlanOf(model.displayName)}
                    className="h-7! w-28! text-[13px]! max-md:w-24!"
                    value={model.minTier}
                    disabled={busy}
                    onText={(text) => change(model, { minTier: text }, MODELS.minimumPlanChanged)}
                    options={TIERS.map((tier) => [tier, titled(tier)] as const)}
                  />
                ),
              },
              {
                title: MODELS.fallbackModels,
                wide: true,
                cell: (model) => {
                  const names = model.fallback.join(", ") || "none";
                  return (
                    <Button size="sm" aria-label={MODELS.fallbackModelsOf(names, model.displayName)} onClick={() => setReplacing(model)}>
                      <span className="max-w-24 truncate">{names}</span>
                    </Button>
                  );
                },
              },
              {
                title: COMMON.price,
                numeric: true,
                wide: true,
                cell: (model) => <PriceButton model={model} onAsk={() => setPricing(model)} />,
              },
            ]}
          />
          {pricing && <PriceDialog model={pricing} onClose={() => setPricing(undefined)} />}
          {replacing && <FallbackDialog model={replacing} models={rows} onClose={() => setReplacing(undefined)} />}
        </>
      )}
    </Loaded>
  );
};
const PriceButton = ({ model, onAsk }: { model: Model; onAsk: () => void }) => (
  <Button size="sm" disabled={model.price === null} onClick={onAsk}>
    {model.price !== null && "table" in model.price
      ? MODELS.prices(model.price.table.length)
      : MODELS.usd(Object.values(model.price ?? {}).join(" / "))}
  </Button>
);
