import type { ApiKey } from "@nodeloom/client";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { Button, IconButton } from "../../ui/button";
import { Input } from "../../ui/inputs/field";
import { COMMON } from "../../messages/common";
import { METADATA_DIALOG } from "../../messages/keys";

const MOST = 10;

/** Edits the metadata that a key adds to every run. */
export const MetadataDialog = ({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) => {
  const [members, setMembers] = useState<readonly (readonly [string, string])[]>(() => {
    const entries = Object.entries(apiKey.metadata ?? {});
    return entries.length > 0 ? entries : [["customer", ""]];
  });
  const set = (place: number, member: readonly [string, string]): void =>
    setMembers(members.map((one, index) => (index === place ? member : one)));
  const namedMembers = members.filter(([name]) => name.trim() !== "");
  const isTwice = new Set(namedMembers.map(([name]) => name.trim())).size < namedMembers.length;
  return (
    <FormDialog
      title={METADATA_DIALOG.metadataFor(apiKey.name)}
      width="md"
      action={COMMON.save}
      disabled={isTwice}
      reads={["keys"]}
      submit={() => {
        const metadata = Object.fromEntries(namedMembers.map(([name, value]) => [name.trim(), value]));
        return request("updateKey", { params: { id: apiKey.id }, body: { metadata } });
      }}
      successText={METADATA_DIALOG.saved}
      onClose={onClose}
    >
      <p className="text-sm text-muted">{METADATA_DIALOG.intro}</p>
      <ul className="flex flex-col gap-2">
        {members.map(([name, value], place) => (
          <li key={place} className="flex items-center gap-2">
            <Input aria-label={METADATA_DIALOG.name(place + 1)} value={name} onText={(text) => set(place, [text, value])} />
            <Input aria-label={METADATA_DIALOG.value(place + 1)} value={value} onText={(text) => set(place, [name, text])} />
            <IconButton
              icon={X}
              size="sm"
              label={METADATA_DIALOG.remove(name)}
              onClick={() => setMembers(members.filter((_, index) => index !== place))}
            />
          </li>
        ))}
      </ul>
      {isTwice && (
        <p role="alert" className="text-xs text-bad">
          {METADATA_DIALOG.nameTaken}
        </p>
      )}
      <Button
        icon={Plus}
        size="sm"
        className="self-start"
        disabled={members.length >= MOST}
        onClick={() => setMembers([...members, ["", ""]])}
      >
        {METADATA_DIALOG.add}
      </Button>
    </FormDialog>
  );
};
