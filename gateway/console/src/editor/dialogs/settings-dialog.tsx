import { useState } from "react";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";
import { AreaField, Check, InputField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { SharedAddress } from "../apps/shared-address";
import { useDocument, useEditor, useUi } from "../context";
import { COMMON } from "../../messages/common";
import { SETTINGS_DIALOG } from "../../messages/editor/dialogs";

const tagList = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];

/** Maximum of the API. */
const MAX_DAYS = 3_650;

/** @returns null for an empty field; undefined for an invalid number */
const readDays = (text: string): number | null | undefined => {
  if (text.trim() === "") return null;
  const days = Number(text);
  return Number.isInteger(days) && days >= 0 && days <= MAX_DAYS ? days : undefined;
};

export const SettingsDialog = () => {
  const { ui, document, slug, canEdit, takenDown } = useEditor();
  const open = useUi((state) => state.overlay === "settings");
  const meta = useDocument((state) => state.meta);
  const [tags, setTags] = useState<string>();
  if (!open) return null;
  const close = (): void => {
    if (tags !== undefined) document.setMeta({ tags: tagList(tags) });
    setTags(undefined);
    ui.setState({ overlay: undefined });
  };
  return (
    <Dialog
      title={SETTINGS_DIALOG.workflowSettings}
      width="md"
      onClose={close}
      actions={
        <Button variant="primary" onClick={close}>
          {COMMON.done}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <InputField
          label={COMMON.name}
          hint={SETTINGS_DIALOG.addressStays(slug)}
          disabled={!canEdit}
          maxLength={200}
          value={meta.name}
          onText={(text) => text.trim() !== "" && document.setMeta({ name: text })}
        />
        <AreaField
          label={COMMON.description}
          disabled={!canEdit}
          maxLength={10_000}
          rows={4}
          value={meta.description}
          onText={(text) => document.setMeta({ description: text })}
        />
        <InputField
          label={SETTINGS_DIALOG.tags}
          hint={SETTINGS_DIALOG.separateWithCommas}
          disabled={!canEdit}
          value={tags ?? meta.tags.join(", ")}
          onText={setTags}
        />
        <Check
          label={SETTINGS_DIALOG.publicPlayground}
          hint={SETTINGS_DIALOG.playgroundHint}
          disabled={!canEdit}
          checked={meta.publicPlayground}
          onCheck={(isOn) => document.setMeta({ publicPlayground: isOn })}
        />
        {meta.publicPlayground && <SharedAddress path={`/p/${slug}`} className="rounded-lg bg-sunken px-3 py-2" />}
        <div className="flex flex-wrap items-center justify-between gap-2">
          <p className="min-w-0 text-sm">
            {SETTINGS_DIALOG.app}
            <span className="block text-xs text-faint">{SETTINGS_DIALOG.appHint}</span>
          </p>
          <Button size="sm" disabled={!canEdit} onClick={() => ui.setState({ overlay: "app" })}>
            {SETTINGS_DIALOG.publishAsAnApp}
          </Button>
        </div>
        <Check
          label={SETTINGS_DIALOG.agentTool}
          hint={SETTINGS_DIALOG.agentToolHint}
          disabled={!canEdit}
          checked={meta.mcp}
          onCheck={(isOn) => document.setMeta({ mcp: isOn })}
        />
        <InputField
          label={SETTINGS_DIALOG.keepRunsForDays}
          hint={SETTINGS_DIALOG.keepRunsHint}
          type="number"
          min={0}
          max={MAX_DAYS}
          disabled={!canEdit}
          value={meta.retentionDays ?? ""}
          onText={(text) => {
            const retentionDays = readDays(text);
            if (retentionDays !== undefined) document.setMeta({ retentionDays });
          }}
        />
        {takenDown !== undefined && (
          <Notice kind="warn" title={SETTINGS_DIALOG.templateRemoved}>
            {takenDown}
          </Notice>
        )}
        <Check
          label={COMMON.template}
          hint={SETTINGS_DIALOG.templateHint}
          disabled={!canEdit}
          checked={meta.isTemplate}
          onCheck={(isOn) => document.setMeta({ isTemplate: isOn })}
        />
        <Check
          label={COMMON.archived}
          disabled={!canEdit}
          checked={meta.archived}
          onCheck={(isOn) => document.setMeta({ archived: isOn })}
        />
      </div>
    </Dialog>
  );
};
