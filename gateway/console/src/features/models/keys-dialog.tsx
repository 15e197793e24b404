import type { ProviderKey, ProviderKeys } from "@nodeloom/client";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";

const Standing = ({ source, hint }: ProviderKey) => {
  if (source === null) return <Badge>not set</Badge>;
  return <Badge tone="ok">{source === "environment" ? "environment" : `…${hint ?? ""}`}</Badge>;
};

export const KeysDialog = ({ list, onChoose, onClose }: { list: ProviderKeys; onChoose: (name: string) => void; onClose: () => void }) => (
  <Dialog title="Keys of providers" width="md" onClose={onClose}>
    {!list.configured && (
      <Notice kind="warn" className="mb-4" title="This installation keeps no keys">
        Set SECRETS_KEYS for the identity service, or the keys themselves in the environment.
      </Notice>
    )}
    <ul className="divide-y">
      {list.keys.map((key) => (
        <li key={key.name} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2.5">
          <div className="min-w-0 flex-1">
            <div className="text-sm font-medium">{key.account}</div>
            <div className="truncate text-xs text-muted">{`${key.models.length} ${key.models.length === 1 ? "model" : "models"} · ${key.name}`}</div>
          </div>
          <Standing {...key} />
          <Button
            size="sm"
            aria-label={`${key.source === null ? "Add" : "Open"} the key of ${key.account}`}
            onClick={() => onChoose(key.name)}
          >
            {key.source === null ? "Add" : "Open"}
          </Button>
        </li>
      ))}
    </ul>
  </Dialog>
);
