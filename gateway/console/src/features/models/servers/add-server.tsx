import type { ModelServerTest } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { FormDialog } from "../../../parts/form";
import { Button } from "../../../ui/button";
import { InputField, SelectField } from "../../../ui/inputs/field";
import { Notice } from "../../../ui/notice";
import { KINDS, MAKES, SERVER_READS } from "./query";
import { COMMON } from "../../../messages/common";
import { ADD_SERVER } from "../../../messages/models";

type Kind = keyof typeof KINDS;

const testWords = ({ models }: ModelServerTest, kind: Kind): string => {
  if (kind === "comfyui") return ADD_SERVER.respondsWithoutWorkflow;
  const shownModels = models.slice(0, 6).map(({ id, makes }) => `${id} (${MAKES[makes]})`);
  return models.length === 0
    ? ADD_SERVER.respondsWithoutModels
    : `${shownModels.join(", ")}${models.length > shownModels.length ? ", …" : ""}`;
};

const TestNotice = ({ tested, kind }: { tested: ModelServerTest; kind: Kind }) => (
  <Notice kind={tested.works ? "ok" : "bad"} title={tested.works ? ADD_SERVER.connected : ADD_SERVER.unusable}>
    {tested.works ? testWords(tested, kind) : tested.message}
  </Notice>
);

/** Adds a server; `onAdded` gets its id. */
export const AddServer = ({ onAdded, onClose }: { onAdded: (id: string) => void; onClose: () => void }) => {
  const [kind, setKind] = useState<Kind>("openai");
  const [serverFields, setGiven] = useState({ url: "", name: "", key: "" });
  const [tested, setTested] = useState<ModelServerTest>();
  const { busy, failure, send } = useChange();
  const set = (change: Partial<typeof serverFields>): void => {
    setGiven({ ...serverFields, ...change });
    setTested(undefined);
  };
  const key = serverFields.key.trim() === "" ? {} : { key: serverFields.key.trim() };
  const address = { kind, url: serverFields.url.trim(), ...key };
  const test = async (): Promise<void> => setTested((await request("adminTestModelServer", { body: address })).body);
  const add = async (): Promise<false> => {
    onAdded((await request("adminAddModelServer", { body: { ...address, name: serverFields.name.trim() } })).body.id);
    return false;
  };
  const isSet = address.url !== "";
  return (
    <FormDialog
      title={ADD_SERVER.addServer}
      width="md"
      action={ADD_SERVER.addServer}
      disabled={!isSet || serverFields.name.trim() === ""}
      reads={SERVER_READS}
      submit={add}
      onClose={onClose}
      others={
        <Button busy={busy} disabled={!isSet} onClick={() => void send(test)}>
          {ADD_SERVER.testConnection}
        </Button>
      }
    >
      {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
      {tested && <TestNotice tested={tested} kind={kind} />}
      <SelectField
        label={ADD_SERVER.type}
        hint={KINDS[kind].hint}
        value={kind}
        onChange={(event) => {
          setKind(event.target.value as Kind);
          setTested(undefined);
        }}
        options={Object.entries(KINDS).map(([value, { title }]) => [value, title])}
      />
      <InputField
        label={COMMON.address}
        hint={ADD_SERVER.addressHint}
        data-first
        inputMode="url"
        placeholder={KINDS[kind].example}
        value={serverFields.url}
        onText={(text) => set({ url: text })}
      />
      <InputField
        label={COMMON.name}
        hint={ADD_SERVER.nameHint}
        placeholder={ADD_SERVER.gpuBox}
        value={serverFields.name}
        onText={(text) => set({ name: text })}
      />
      <InputField
        label={ADD_SERVER.apiKeyOptional}
        hint={ADD_SERVER.keyHint}
        type="password"
        autoComplete="off"
        data-1p-ignore
        value={serverFields.key}
        onText={(text) => set({ key: text })}
      />
    </FormDialog>
  );
};
