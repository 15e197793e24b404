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
import { AreaField, Check, InputField, Select } from "../../ui/inputs/field";
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

const readJson = (text: string): Price => {
  try {
    return JSON.parse(text) as Price;
  } catch {
    throw new Error("This is no JSON.");
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
      title={`Price of ${model.displayName}`}
      action="Save"
      reads={["models"]}
      submit={submit}
      done="The price holds for new runs."
      onClose={onClose}
    >
      <p className="text-sm text-muted">Wholesale; tiers add their markup.</p>
      {isTable && (
        <AreaField
          label="Prices by inputs, as JSON"
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
  const change = (model: Model, body: object, done: string): void =>
    void run(() => request("adminUpdateModel", { params: { internalName: model.internalName }, body }), done);
  return (
    <Loaded of={models} lines={8}>
      {(rows) => (
        <>
          <Table<Model>
            label="Models"
            rows={rows}
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
                    onCheck={(isOn) => change(model, { enabled: isOn }, `${model.displayName} is ${isOn ? "on" : "off"}.`)}
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
                    onText={(text) => change(model, { minTier: text }, "The tier was changed.")}
                    options={TIERS}
                  />
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
          {replacing && <FallbackDialog model={replacing} models={rows} onClose={() => setReplacing(undefined)} />}
        </>
      )}
    </Loaded>
  );
};
const PriceButton = ({ model, onAsk }: { model: Model; onAsk: () => void }) => (
  <Button size="sm" disabled={model.price === null} onClick={onAsk}>
    {model.price !== null && "table" in model.price
      ? `${model.price.table.length} prices`
      : `${Object.values(model.price ?? {}).join(" / ") || "none"} USD`}
  </Button>
);
