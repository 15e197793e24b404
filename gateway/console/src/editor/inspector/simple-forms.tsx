import { isRecord } from "@nodeloom/kernel/graph";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { DocNode } from "../../document/graph";
import { Button, IconButton } from "../../ui/button";
import { Check, Field, Input, Select, TextArea } from "../../ui/inputs/field";
import { JsonInput, NumberInput } from "../../ui/inputs/value-inputs";
import { FileValue } from "../../media/file-value";
import { useLibraryChoice, useSetting, useWired } from "./use-setting";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const TextForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  return (
    <Field label="Text" hint="Write {{name}} where a value from another node belongs: it becomes a port.">
      {(attributes) => (
        <TextArea
          {...attributes}
          rows={12}
          disabled={disabled}
          value={text(node.data.text)}
          onChange={(event) => set(["text"], event.target.value)}
        />
      )}
    </Field>
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
            onChange={(event) =>
              set(
                ["items"],
                items.map((one, at) => (at === index ? event.target.value : one)),
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
          // Who adds an item is about to type it.
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
        <Field label="Method">
          {(attributes) => (
            <Select
              {...attributes}
              disabled={disabled}
              value={text(data.method) || "GET"}
              onChange={(event) => set(["method"], event.target.value)}
            >
              {METHODS.map((method) => (
                <option key={method}>{method}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Address">
          {(attributes) => (
            <Input
              {...attributes}
              disabled={disabled}
              placeholder="https://api.example.com/{{id}}"
              spellCheck={false}
              value={text(data.url)}
              onChange={(event) => set(["url"], event.target.value)}
            />
          )}
        </Field>
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
        <Field label="Body">
          {(attributes) => (
            <TextArea
              {...attributes}
              rows={5}
              disabled={disabled}
              spellCheck={false}
              className="font-mono text-xs!"
              value={text(data.body)}
              onChange={(event) => set(["body"], event.target.value === "" ? undefined : event.target.value)}
            />
          )}
        </Field>
      ) : (
        <JsonInput label="Body" value={data.body} disabled={disabled} onChange={(value) => set(["body"], value)} />
      )}
      <Field label="Take from the answer" hint="A JSON pointer such as /items/0/title; empty: all of it.">
        {(attributes) => (
          <Input
            {...attributes}
            disabled={disabled}
            spellCheck={false}
            value={text(data.extract)}
            onChange={(event) => set(["extract"], event.target.value === "" ? undefined : event.target.value)}
          />
        )}
      </Field>
      <Check
        label="Fail on an error status"
        hint="An answer outside 2xx fails this node."
        disabled={disabled}
        checked={data.failOnStatus === true}
        onChange={(event) => set(["failOnStatus"], event.target.checked)}
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

/** The most items of a list whose length only the run knows. */
export const MaxItems = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  return (
    <Field label="At most so many items" hint="Of a list whose length only the run knows: 1 to 50. More fail the node.">
      {(attributes) => (
        <NumberInput {...attributes} disabled={disabled} value={node.data.maxItems} onChange={(value) => set(["maxItems"], value)} />
      )}
    </Field>
  );
};

/** Settings that no form of this version knows: as JSON. */
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
