import { isRecord, maxFiles } from "@nodeloom/kernel/graph";
import { Plus, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { DocNode } from "../../document/graph";
import { Button, IconButton } from "../../ui/button";
import { AreaField, Check, InputField, SelectField, TextArea } from "../../ui/inputs/field";
import { JsonInput, NumberField } from "../../ui/inputs/value-inputs";
import { FileValue } from "../../media/file-value";
import { Skeleton } from "../../ui/notice";
import { useLibraryChoice, useSetting, useWired } from "./use-setting";
import { EVERY_FILE } from "../../ui/inputs/accept";
import { COMMON } from "../../messages/common";
import { FIELDS_FORM, SIMPLE_FORMS } from "../../messages/editor/inspector";

const FileList = lazy(async () => ({ default: (await import("../../media/list/file-list")).FileList }));
const MOST_FILES = maxFiles({});

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const TextForm = ({ node }: { node: DocNode }) => {
  const { set, disabled } = useSetting(node);
  return (
    <AreaField
      label={COMMON.text}
      hint={SIMPLE_FORMS.templateHint}
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
        label={COMMON.items}
        hint={SIMPLE_FORMS.aJsonList}
        value={node.data.items}
        disabled={disabled}
        onChange={(value) => set(["items"], value ?? [])}
        rows={12}
      />
    );
  const write = (next: unknown[]): void => set(["items"], next, SIMPLE_FORMS.editList);
  return (
    <div className="flex flex-col gap-2">
      <p className="text-xs text-faint">{SIMPLE_FORMS.listHint}</p>
      {items.map((item, index) => (
        <div key={index} className="flex items-start gap-1">
          <TextArea
            aria-label={SIMPLE_FORMS.item(index + 1)}
            rows={1}
            autoFocus={index === added}
            onFocus={() => setAdded(undefined)}
            disabled={disabled}
            value={item}
            onText={(text) =>
              set(
                ["items"],
                items.map((one, at) => (at === index ? text : one)),
                SIMPLE_FORMS.editList,
              )
            }
          />
          <IconButton
            icon={Trash2}
            label={SIMPLE_FORMS.removeItem(index + 1)}
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
        {SIMPLE_FORMS.addItem}
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
          label={SIMPLE_FORMS.method}
          disabled={disabled}
          value={text(data.method) || "GET"}
          onText={(text) => set(["method"], text)}
          options={METHODS}
        />
        <InputField
          label={COMMON.address}
          disabled={disabled}
          placeholder={SIMPLE_FORMS.urlPlaceholder}
          spellCheck={false}
          value={text(data.url)}
          onText={(text) => set(["url"], text)}
        />
      </div>
      <JsonInput
        label={SIMPLE_FORMS.headers}
        hint={SIMPLE_FORMS.headersHint}
        value={data.headers}
        disabled={disabled}
        onChange={(value) => set(["headers"], value)}
        rows={3}
      />
      {wired.has("body") ? (
        <p className="text-xs text-muted">
          {SIMPLE_FORMS.bodySource} {wired.get("body")}.
        </p>
      ) : isText ? (
        <AreaField
          label={SIMPLE_FORMS.body}
          rows={5}
          disabled={disabled}
          spellCheck={false}
          className="font-mono text-xs!"
          value={text(data.body)}
          onText={(text) => set(["body"], text === "" ? undefined : text)}
        />
      ) : (
        <JsonInput label={SIMPLE_FORMS.body} value={data.body} disabled={disabled} onChange={(value) => set(["body"], value)} />
      )}
      <InputField
        label={SIMPLE_FORMS.responseValue}
        hint={SIMPLE_FORMS.pointerHint}
        disabled={disabled}
        spellCheck={false}
        value={text(data.extract)}
        onText={(text) => set(["extract"], text === "" ? undefined : text)}
      />
      <Check
        label={SIMPLE_FORMS.failOnErrorStatus}
        hint={SIMPLE_FORMS.failOnErrorStatusHint}
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
  const { multiple, mediaId, mediaIds } = node.data;
  const put = (id: string | undefined): void => set(["mediaId"], id ?? "", SIMPLE_FORMS.chooseAFile);
  const putAll = (ids: readonly string[]): void => set(["mediaIds"], ids, SIMPLE_FORMS.chooseFiles);
  const list = (Array.isArray(mediaIds) ? mediaIds : []).filter((id) => typeof id === "string");
  const isList = multiple === true;
  const setMultiple = (isOn: boolean): void => {
    // The chosen file stays when the node changes to several files.
    if (isOn && list.length === 0 && text(mediaId) !== "") putAll([text(mediaId)]);
    set(["multiple"], isOn || undefined);
  };
  return (
    <div className="flex flex-col gap-4">
      {isList ? (
        <fieldset disabled={disabled} className="m-0 min-w-0 border-0 p-0">
          <Suspense fallback={<Skeleton lines={3} />}>
            <FileList
              label={SIMPLE_FORMS.files}
              value={list}
              accept={EVERY_FILE}
              error={undefined}
              examples={[]}
              most={MOST_FILES}
              onChange={putAll}
            />
          </Suspense>
        </fieldset>
      ) : (
        <FileValue
          label={COMMON.file}
          value={text(mediaId)}
          onChange={put}
          accept={EVERY_FILE}
          hint={SIMPLE_FORMS.fileHint}
          disabled={disabled}
          onChoose={() => choose(put)}
        />
      )}
      <Check
        label={FIELDS_FORM.severalFiles}
        hint={FIELDS_FORM.severalFilesHint}
        disabled={disabled}
        checked={isList}
        onCheck={setMultiple}
      />
    </div>
  );
};

/** Maximums that a node can set, by the names of their settings. */
const BOUNDS = {
  maxItems: {
    label: SIMPLE_FORMS.maximumItems,
    hint: SIMPLE_FORMS.maximumItemsHint,
  },
  maxInputChars: {
    label: SIMPLE_FORMS.maximumCharacters,
    hint: SIMPLE_FORMS.inputLimitHint,
  },
} as const;

/** Fields for the maximums that the node's kind has. */
export const Bounds = ({ node, settings }: { node: DocNode; settings: object }) => {
  const { set, disabled } = useSetting(node);
  return Object.entries(BOUNDS)
    .filter(([name]) => name in settings)
    .map(([name, words]) => (
      <NumberField key={name} {...words} disabled={disabled} value={node.data[name]} onChange={(value) => set([name], value)} />
    ));
};

/** Settings without a form, as JSON. */
export const RawForm = ({ node, label = SIMPLE_FORMS.settings }: { node: DocNode; label?: string }) => {
  const { set, disabled } = useSetting(node);
  return (
    <JsonInput
      label={label}
      hint={SIMPLE_FORMS.asStored}
      value={node.data}
      disabled={disabled}
      rows={14}
      onChange={(value) => isRecord(value) && set([], value)}
    />
  );
};
