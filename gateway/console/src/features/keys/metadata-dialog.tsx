import type { ApiKey } from "@nodeloom/client";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useAction } from "../../api/use-action";
import { Button, IconButton } from "../../ui/button";
import { Input } from "../../ui/inputs/field";
import { Dialog } from "../../ui/overlays/dialog";

const MOST = 10;

/** What every run by a key has of metadata. */
export const MetadataDialog = ({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) => {
  const [members, setMembers] = useState<readonly (readonly [string, string])[]>(() => {
    const known = Object.entries(apiKey.metadata ?? {});
    return known.length > 0 ? known : [["customer", ""]];
  });
  const { busy, run } = useAction(["keys"]);
  const set = (place: number, member: readonly [string, string]): void =>
    setMembers(members.map((one, index) => (index === place ? member : one)));
  const named = members.filter(([name]) => name.trim() !== "");
  const isTwice = new Set(named.map(([name]) => name.trim())).size < named.length;
  const save = async (): Promise<void> => {
    const metadata = Object.fromEntries(named.map(([name, value]) => [name.trim(), value]));
    if (await run(() => request("updateKey", { params: { id: apiKey.id }, body: { metadata } }), "Saved.")) onClose();
  };
  return (
    <Dialog
      title={`Metadata of “${apiKey.name}”`}
      width="md"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={busy} disabled={isTwice} onClick={() => void save()}>
            Save
          </Button>
        </>
      }
    >
      <p className="mb-4 text-sm text-muted">
        Every run by this key has these values; its callers can neither change nor leave them out. Usage and budgets go by them.
      </p>
      <ul className="flex flex-col gap-2">
        {members.map(([name, value], place) => (
          <li key={place} className="flex items-center gap-2">
            <Input aria-label={`Name ${place + 1}`} value={name} onChange={({ target }) => set(place, [target.value, value])} />
            <Input aria-label={`Value ${place + 1}`} value={value} onChange={({ target }) => set(place, [name, target.value])} />
            <IconButton
              icon={X}
              size="sm"
              label={`Remove ${name}`}
              onClick={() => setMembers(members.filter((_, index) => index !== place))}
            />
          </li>
        ))}
      </ul>
      {isTwice && (
        <p role="alert" className="mt-2 text-xs text-bad">
          A name is there twice.
        </p>
      )}
      <Button icon={Plus} size="sm" className="mt-3" disabled={members.length >= MOST} onClick={() => setMembers([...members, ["", ""]])}>
        Add
      </Button>
    </Dialog>
  );
};
