import type { WorkflowInput, WorkflowInspection } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Button } from "../../../ui/button";
import { Check, Field, Input, SelectField } from "../../../ui/inputs/field";
import { Notice } from "../../../ui/notice";
import { SERVER_READS } from "./query";
import { COMMON } from "../../../messages/common";
import { UPLOAD_WORKFLOW } from "../../../messages/models";

const MODALITIES = ["image", "video", "audio"] as const;
type Modality = (typeof MODALITIES)[number];

interface Upload {
  name: string;
  workflow: Record<string, unknown>;
  found: WorkflowInspection;
  /** Names of inputs by index. */
  names: Readonly<Record<string, string>>;
  /** Empty while unknown. */
  modality: Modality | "";
  keepMetadata: boolean;
}

const placeOf = ({ node, input }: Pick<WorkflowInput, "node" | "input">): string => JSON.stringify([node, input]);

const read = async (file: File): Promise<Record<string, unknown>> => {
  try {
    return JSON.parse(await file.text()) as Record<string, unknown>;
  } catch {
    throw new Error(UPLOAD_WORKFLOW.notJson);
  }
};

const InputRow = ({
  input,
  name,
  onChange,
}: {
  input: WorkflowInput;
  name: string | undefined;
  onChange: (name: string | undefined) => void;
}) => (
  <li className="flex flex-wrap items-center gap-3 py-2">
    <Check
      className="min-w-0 flex-1"
      label={`${input.title || input.classType}: ${input.input}`}
      hint={String(input.value).slice(0, 80)}
      checked={name !== undefined}
      onCheck={(isOn) => onChange(isOn ? input.name : undefined)}
    />
    {name !== undefined && (
      <Input
        aria-label={UPLOAD_WORKFLOW.nameOf(input.title || input.classType, input.input)}
        className="w-44!"
        value={name}
        onText={onChange}
      />
    )}
  </li>
);

/** Creates a model from a workflow exported for the API. */
export const UploadWorkflow = ({ serverId }: { serverId: string }) => {
  const [chosenFile, setChosen] = useState<Upload>();
  const { busy, failure, send } = useChange(...SERVER_READS);
  const params = { id: serverId };
  const open = (file: File): void =>
    void send(async () => {
      const workflow = await read(file);
      const { body: inspected } = await request("adminInspectServerWorkflow", { params, body: { workflow } });
      const names = Object.fromEntries(inspected.inputs.filter(({ titled }) => titled).map((input) => [placeOf(input), input.name]));
      setChosen({
        name: file.name.replace(/\.json$/i, ""),
        workflow,
        found: inspected,
        names,
        modality: inspected.modality ?? "",
        keepMetadata: false,
      });
    });
  const add = ({ name, workflow, found, names, modality, keepMetadata }: Upload): void =>
    void send(async () => {
      if (modality === "") return;
      const inputs = found.inputs.flatMap((one) => {
        const called = names[placeOf(one)];
        return called === undefined ? [] : [{ name: called, node: one.node, input: one.input }];
      });
      await request("adminPutServerWorkflow", { params, body: { name: name.trim(), workflow, inputs, modality, keepMetadata } });
      setChosen(undefined);
    });
  const setName = (input: WorkflowInput, name: string | undefined): void => {
    if (!chosenFile) return;
    const { [placeOf(input)]: _old, ...rest } = chosenFile.names;
    setChosen({ ...chosenFile, names: name === undefined ? rest : { ...rest, [placeOf(input)]: name } });
  };
  return (
    <section className="flex flex-col gap-3 border-t pt-4">
      <Field label={UPLOAD_WORKFLOW.uploadWorkflow} hint={UPLOAD_WORKFLOW.intro}>
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept=".json,application/json"
            className="text-sm"
            onChange={({ target }) => {
              const file = target.files?.[0];
              if (file) open(file);
              target.value = "";
            }}
          />
        )}
      </Field>
      {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
      {chosenFile && (
        <>
          <div className="flex gap-3">
            <Field label={UPLOAD_WORKFLOW.modelName} className="flex-1">
              {(attributes) => (
                <Input {...attributes} value={chosenFile.name} onText={(text) => setChosen({ ...chosenFile, name: text })} />
              )}
            </Field>
            <SelectField
              label={UPLOAD_WORKFLOW.output}
              value={chosenFile.modality}
              onText={(text) => setChosen({ ...chosenFile, modality: text as Modality })}
              options={MODALITIES}
            >
              {chosenFile.modality === "" && <option value="">{UPLOAD_WORKFLOW.choose}</option>}
            </SelectField>
          </div>
          <ul aria-label={COMMON.inputs} className="max-h-72 divide-y overflow-y-auto">
            {chosenFile.found.inputs.map((input) => (
              <InputRow
                key={placeOf(input)}
                input={input}
                name={chosenFile.names[placeOf(input)]}
                onChange={(name) => setName(input, name)}
              />
            ))}
          </ul>
          <Check
            label={UPLOAD_WORKFLOW.keepMetadata}
            hint={UPLOAD_WORKFLOW.keepMetadataHint}
            checked={chosenFile.keepMetadata}
            onCheck={(isOn) => setChosen({ ...chosenFile, keepMetadata: isOn })}
          />
          <Button
            variant="primary"
            className="self-end"
            busy={busy}
            disabled={chosenFile.name.trim() === "" || chosenFile.modality === "" || Object.keys(chosenFile.names).length === 0}
            onClick={() => add(chosenFile)}
          >
            {UPLOAD_WORKFLOW.createModel}
          </Button>
        </>
      )}
    </section>
  );
};
