import { MODALITIES, type Modality } from "@nodeloom/kernel/graph";
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
import { COMMON } from "../../messages/common";
import { IMPORT_MODEL } from "../../messages/models";

const PROVIDERS = [
  { id: "fal", title: IMPORT_MODEL.fal, hint: IMPORT_MODEL.falHint },
  { id: "replicate", title: IMPORT_MODEL.replicate, hint: IMPORT_MODEL.replicateHint },
  { id: "openrouter", title: IMPORT_MODEL.openRouter, hint: IMPORT_MODEL.openAiHint },
] as const;
type ProviderId = (typeof PROVIDERS)[number]["id"];

/** Units of a model's price. Prices per second or picture need an input with their number. */
const unitsOf = ({ inputSchema }: Pick<Model, "inputSchema">): [name: string, title: string][] => {
  const inputs = new Set(propertiesOf(inputSchema).map(([name]) => name));
  return [
    ["perRunUsd", IMPORT_MODEL.perRun],
    ...(inputs.has("count") ? [["perImageUsd", IMPORT_MODEL.perImage] as [string, string]] : []),
    ...(inputs.has("seconds") ? [["perSecondUsd", IMPORT_MODEL.perSecond] as [string, string]] : []),
  ];
};

const Imported = ({ imported: { model, notes }, onClose }: { imported: ImportedModel; onClose: () => void }) => {
  const { internalName, displayName } = model;
  const title = IMPORT_MODEL.imported(displayName);
  const about = (
    <>
      <p className="text-sm text-muted">
        {IMPORT_MODEL.itsNameIs} <code className="font-mono text-xs wrap-anywhere">{internalName}</code>
        {model.price !== null ? "." : IMPORT_MODEL.priceMissing}
      </p>
      {notes.length > 0 && (
        <Notice title={IMPORT_MODEL.notes}>
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
      <Dialog title={title} onClose={onClose} actions={<Button onClick={onClose}>{COMMON.close}</Button>}>
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
      action={IMPORT_MODEL.setPrice}
      cancel={IMPORT_MODEL.later}
      reads={["models"]}
      submit={price}
      successText={IMPORT_MODEL.priceOfSaved(displayName)}
      onClose={onClose}
    >
      {about}
      <div className="flex flex-wrap gap-3">
        <InputField
          label={IMPORT_MODEL.usd}
          hint={IMPORT_MODEL.priceHint}
          name="amount"
          type="number"
          step="any"
          min="0"
          max="1000"
          required
          data-first
        />
        <SelectField label={IMPORT_MODEL.charged} name="unit" options={unitsOf(model)} />
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
    <FormDialog title={IMPORT_MODEL.importModel} action={IMPORT_MODEL.import} reads={["models"]} submit={submit} onClose={onClose}>
      <p className="text-sm text-muted">{IMPORT_MODEL.intro}</p>
      <SelectField
        label={IMPORT_MODEL.provider}
        value={provider}
        onText={(text) => setProvider(text as ProviderId)}
        options={PROVIDERS.map(({ id, title }) => [id, title])}
      />
      <InputField
        label={COMMON.model}
        hint={PROVIDERS.find(({ id }) => id === provider)!.hint}
        name="app"
        required
        maxLength={300}
        autoFocus
        spellCheck={false}
      />
      {provider === "replicate" && (
        <SelectField label={IMPORT_MODEL.output} hint={IMPORT_MODEL.outputHint} name="modality" options={MODALITIES}>
          <option value="">{IMPORT_MODEL.asStatedByReplicate}</option>
        </SelectField>
      )}
    </FormDialog>
  );
};

/** For administrators: adds a model by its name at the provider. */
export const ImportModelButton = () => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon={Download} onClick={() => setOpen(true)}>
        {IMPORT_MODEL.importModel}
      </Button>
      {isOpen && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
};
