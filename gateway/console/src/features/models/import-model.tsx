import type { ImportedModel, Model, Price } from "@nodeloom/client";
import { Download } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { Button } from "../../ui/button";
import { InputField, SelectField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { propertiesOf } from "../../ui/inputs/properties";

const PROVIDERS = [
  { id: "fal", title: "fal", hint: "The path of the application, for example fal-ai/flux-2-pro." },
  { id: "replicate", title: "Replicate", hint: "Owner and name, for example black-forest-labs/flux-schnell." },
  { id: "openrouter", title: "OpenRouter", hint: "The id of the model, for example openai/gpt-6-luna." },
] as const;
type ProviderId = (typeof PROVIDERS)[number]["id"];
const MODALITIES = ["image", "video", "audio", "text"] as const;
type Modality = (typeof MODALITIES)[number];

/** Units of a model's price; seconds and pictures need an input with their number. */
const unitsOf = ({ inputSchema }: Pick<Model, "inputSchema">): [name: string, title: string][] => {
  const inputs = new Set(propertiesOf(inputSchema).map(([name]) => name));
  return [
    ["perRunUsd", "a run"],
    ...(inputs.has("count") ? [["perImageUsd", "a picture"] as [string, string]] : []),
    ...(inputs.has("seconds") ? [["perSecondUsd", "a second"] as [string, string]] : []),
  ];
};

const Imported = ({ imported: { model, notes }, onClose }: { imported: ImportedModel; onClose: () => void }) => {
  const { internalName, displayName } = model;
  const title = `${displayName} was imported`;
  const about = (
    <>
      <p className="text-sm text-muted">
        It is called <code className="font-mono text-xs wrap-anywhere">{internalName}</code>
        {model.price !== null ? "." : ", and is switched off until it has a price."}
      </p>
      {notes.length > 0 && (
        <Notice title="What to know">
          <ul className="list-disc pl-4">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  );
  if (model.price !== null)
    return (
      <Dialog title={title} onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
        <div className="flex flex-col gap-4">{about}</div>
      </Dialog>
    );
  const price = (data: FormData) => {
    const body = { price: { [String(data.get("unit"))]: Number(data.get("amount")) } as unknown as Price };
    return request("adminUpdateModel", { params: { internalName }, body });
  };
  return (
    <FormDialog
      title={title}
      action="Set the price"
      cancel="Later"
      reads={["models"]}
      submit={price}
      done={`${displayName} has a price now.`}
      onClose={onClose}
    >
      {about}
      <div className="flex flex-wrap gap-3">
        <InputField
          label="US dollars"
          hint="Wholesale; tiers add their markup."
          name="amount"
          type="number"
          step="any"
          min="0"
          max="1000"
          required
          data-first
        />
        <SelectField label="For" name="unit" options={unitsOf(model)} />
      </div>
    </FormDialog>
  );
};

const ImportDialog = ({ onClose }: { onClose: () => void }) => {
  const [provider, setProvider] = useState<ProviderId>("fal");
  const [imported, setImported] = useState<ImportedModel>();
  if (imported) return <Imported imported={imported} onClose={onClose} />;
  const submit = async (data: FormData): Promise<false> => {
    const [app, modality] = [String(data.get("app") ?? "").trim(), String(data.get("modality") ?? "")];
    const body = { provider, app, ...(modality === "" ? {} : { modality: modality as Modality }) };
    setImported((await request("adminImportModel", { body })).body);
    return false;
  };
  return (
    <FormDialog title="Import a model" action="Import" reads={["models"]} submit={submit} onClose={onClose}>
      <p className="text-sm text-muted">Its inputs are read from what the provider publishes.</p>
      <SelectField
        label="Provider"
        value={provider}
        onText={(text) => setProvider(text as ProviderId)}
        options={PROVIDERS.map(({ id, title }) => [id, title])}
      />
      <InputField
        label="Model"
        hint={PROVIDERS.find(({ id }) => id === provider)!.hint}
        name="app"
        required
        maxLength={300}
        autoFocus
        spellCheck={false}
      />
      {provider === "replicate" && (
        <SelectField label="Makes" hint="Where Replicate does not say it." name="modality" options={MODALITIES}>
          <option value="">as Replicate says</option>
        </SelectField>
      )}
    </FormDialog>
  );
};

/** For administrators: adds a provider's model by its name there. */
export const ImportModelButton = () => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon={Download} onClick={() => setOpen(true)}>
        Import a model
      </Button>
      {isOpen && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
};
