import type { ProviderKey, ProviderKeys } from "@nodeloom/client";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { KEYS_DIALOG } from "../../messages/models";

const Standing = ({ source, hint }: ProviderKey) => {
  if (source === null) return <Badge>{KEYS_DIALOG.notSet}</Badge>;
  return <Badge tone="ok">{source === "environment" ? KEYS_DIALOG.environment : `…${hint ?? ""}`}</Badge>;
};

export const KeysDialog = ({ list, onChoose, onClose }: { list: ProviderKeys; onChoose: (name: string) => void; onClose: () => void }) => (
  <Dialog title={KEYS_DIALOG.providerApiKeys} width="md" onClose={onClose}>
    {!list.configured && (
      <Notice kind="warn" className="mb-4" title={KEYS_DIALOG.cantStore}>
        {KEYS_DIALOG.cantStoreHint}
      </Notice>
    )}
    <ul className="divide-y">
      {list.keys.map((key) => (
        <li key={key.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2.5">
          <div className="min-w-0 flex-1">
            <div className="text-sm font-medium">{key.account}</div>
            <div className="truncate text-xs text-muted">{`${key.models.length} ${key.models.length === 1 ? KEYS_DIALOG.model : KEYS_DIALOG.models} · ${key.name}`}</div>
          </div>
          <Standing {...key} />
          <Button size="sm" aria-label={KEYS_DIALOG.openKey(key.source === null, key.account)} onClick={() => onChoose(key.name)}>
            {key.source === null ? KEYS_DIALOG.add : KEYS_DIALOG.open}
          </Button>
        </li>
      ))}
    </ul>
  </Dialog>
);
