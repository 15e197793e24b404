import { isRecord } from "@nodeloom/kernel/graph";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { DocNode } from "../../document/graph";
import { Button, IconButton } from "../../ui/button";
import { AreaField, Check, InputField, SelectField, TextArea } from "../../ui/inputs/field";
import { JsonInput, NumberField } from "../../ui/inputs/value-inputs";
import { FileValue } from "../../media/file-value";
import { useLibraryChoice, useSetting, useWired } from "./use-setting";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const TextForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  return (
    <AreaField
      label="Text"
      hint="Write {{name}} where a value from another node belongs: it becomes a port."
      rows={12}
      disabled={disabled}
      value={text(node.data.text)}
      onChange={(event) => set(["text"], event.target.value)}
    />
  );
};

export const ListForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const [added, setAdded] = useState<number>();
  const items = Array.isArray(node.data.items) ? (node.data.items as unknown[]) : [];
  if (!items.every((item) => typeof item === "string"))
    return (
      <JsonInput
        label="Items"
        hint="A JSON list."
        value={node.data.items}
        disabled={disabled}
        onChange={(value) => set(["items"], value ?? [])}
        rows={12}
      />
    );
  const write = (next: unknown[]): void => set(["items"], next, "Edit list");
  return (
    <div className="flex flex-col gap-2">
      <p className="text-xs text-faint">What follows runs once for each item, up to 50 at the same time.</p>
      {items.map((item, index) => (
        <div key={index} className="flex items-start gap-1">
          <TextArea
            aria-label={`Item ${index + 1}`}
            rows={1}
            autoFocus={index === added}
            onFocus={() => setAdded(undefined)}
            disabled={disabled}
            value={item}
            onText={(text) =>
              set(
                ["items"],
                items.map((one, at) => (at === index ? text : one)),
                "Edit list",
              )
            }
          />
          <IconButton
            icon={Trash2}
            label={`Remove item ${index + 1}`}
            disabled={disabled}
            onClick={() => write(items.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Button
        icon={Plus}
        size="sm"
        disabled={disabled}
        className="self-start"
        onClick={() => {
          // Focuses a new item.
          setAdded(items.length);
          write([...items, ""]);
        }}
      >
        Add an item
      </Button>
    </div>
  );
};

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const;

export const HttpForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const wired = useWired(node.id);
  const { data } = node;
  const isText = data.body === undefined || data.body === null || typeof data.body === "string";
  return (
    <div className="flex flex-col gap-4">
      <div className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-2">
        <SelectField
          label="Method"
          disabled={disabled}
          value={text(data.method) || "GET"}
          onText={(text) => set(["method"], text)}
          options={METHODS}
        />
        <InputField
          label="Address"
          disabled={disabled}
          placeholder="https://api.example.com/{{id}}"
          spellCheck={false}
          value={text(data.url)}
          onText={(text) => set(["url"], text)}
        />
      </div>
      <JsonInput
        label="Headers"
        hint={'An object: {"authorization": "Bearer {{secrets.NAME}}"}. Keys are kept under Secrets.'}
        value={data.headers}
        disabled={disabled}
        onChange={(value) => set(["headers"], value)}
        rows={3}
      />
      {wired.has("body") ? (
        <p className="text-xs text-muted">The body comes from {wired.get("body")}.</p>
      ) : isText ? (
        <AreaField
          label="Body"
          rows={5}
          disabled={disabled}
          spellCheck={false}
          className="font-mono text-xs!"
          value={text(data.body)}
          onText={(text) => set(["body"], text === "" ? undefined : text)}
        />
      ) : (
        <JsonInput label="Body" value={data.body} disabled={disabled} onChange={(value) => set(["body"], value)} />
      )}
      <InputField
        label="Take from the answer"
        hint="A JSON pointer such as /items/0/title; empty: all of it."
        disabled={disabled}
        spellCheck={false}
        value={text(data.extract)}
        onText={(text) => set(["extract"], text === "" ? undefined : text)}
      />
      <Check
        label="Fail on an error status"
        hint="An answer outside 2xx fails this node."
        disabled={disabled}
        checked={data.failOnStatus === true}
        onCheck={(isOn) => set(["failOnStatus"], isOn)}
      />
    </div>
  );
};

export const FileForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  const choose = useLibraryChoice();
  const put = (id: string | undefined): void => set(["mediaId"], id ?? "", "Choose a file");
  return (
    <FileValue
      label="File"
      value={text(node.data.mediaId)}
      onChange={put}
      accept="image/*,video/*,audio/*"
      hint="Upload one, choose one of yours, or drop it on the canvas."
      disabled={disabled}
      onChoose={() => choose(put)}
    />
  );
};

/** Upper bounds that a node can set, by the names of their settings. */
const BOUNDS = {
  maxItems: {
    label: "At most so many items",
    hint: "Of a list whose length only the run knows: 1 to 50. More fail the node.",
  },
  maxInputChars: {
    label: "At most so many characters",
    hint: "Of prompt, system and history together. It bounds the price; longer texts fail the node.",
  },
} as const;

/** Fields for the bounds that the node's kind has. */
export const Bounds = ({ node, settings }: { node: DocNode; settings: object }) => {
  const { set, disabled } = useSetting(node);
  return Object.entries(BOUNDS)
    .filter(([name]) => name in settings)
    .map(([name, words]) => (
      <NumberField key={name} {...words} disabled={disabled} value={node.data[name]} onChange={(value) => set([name], value)} />
    ));
};

/** Settings without a form, as JSON. */
export const RawForm = ({ node, label = "Settings" }: { node: DocNode; label?: string }) => {
  const { set, disabled } = useSetting(node);
  return (
    <JsonInput
      label={label}
      hint="As they are saved."
      value={node.data}
      disabled={disabled}
      rows={14}
      onChange={(value) => isRecord(value) && set([], value)}
    />
  );
};
