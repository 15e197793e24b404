import type { ModelServer } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Server } from "lucide-react";
import { useState } from "react";
import { titled } from "../../../ui/format";
import { Loaded } from "../../../parts/loaded";
import { meQuery } from "../../../api/queries";
import { Badge } from "../../../ui/badge";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/overlays/dialog";
import { AddServer } from "./add-server";
import { countOf, KINDS, serversQuery } from "./query";
import { ServerDialog } from "./server-dialog";
import { SERVERS_BUTTON } from "../../../messages/models";

const ServerRow = ({ server, onOpen }: { server: ModelServer; onOpen: () => void }) => (
  <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2.5">
    <div className="min-w-0 flex-1">
      <div className="text-sm font-medium">{server.name}</div>
      <div className="truncate text-xs text-muted">{`${KINDS[server.kind].title} · ${countOf(server)} · ${server.url}`}</div>
    </div>
    <Badge tone={server.status === "ready" ? "ok" : "bad"}>{titled(server.status)}</Badge>
    <Button size="sm" aria-label={SERVERS_BUTTON.openServer(server.name)} onClick={onOpen}>
      {SERVERS_BUTTON.open}
    </Button>
  </li>
);

const List = ({ onAdd, onOpen, onClose }: { onAdd: () => void; onOpen: (id: string) => void; onClose: () => void }) => {
  const servers = useQuery(serversQuery);
  return (
    <Dialog
      title={SERVERS_BUTTON.yourServers}
      width="md"
      onClose={onClose}
      actions={
        <Button variant="primary" onClick={onAdd}>
          {SERVERS_BUTTON.addServer}
        </Button>
      }
    >
      <p className="mb-3 text-sm text-muted">{SERVERS_BUTTON.emptyHint}</p>
      <Loaded of={servers}>
        {(rows) => (
          <ul className="divide-y">
            {rows.map((server) => (
              <ServerRow key={server.id} server={server} onOpen={() => onOpen(server.id)} />
            ))}
          </ul>
        )}
      </Loaded>
    </Dialog>
  );
};

type View = "list" | "add" | { id: string };

/** @param isAdding true to open the form for a new server at once */
export const ServersButton = ({ isAdding }: { isAdding: boolean }) => {
  const { data: me } = useQuery(meQuery);
  const [shownServer, setShown] = useState<View | undefined>(isAdding ? "add" : undefined);
  const servers = useQuery({ ...serversQuery, enabled: typeof shownServer === "object" });
  if (me?.user.role !== "admin") return null;
  const server = typeof shownServer === "object" ? servers.data?.find(({ id }) => id === shownServer.id) : undefined;
  return (
    <>
      <Button icon={Server} onClick={() => setShown("list")}>
        {SERVERS_BUTTON.servers}
      </Button>
      {shownServer === "list" && (
        <List onAdd={() => setShown("add")} onOpen={(id) => setShown({ id })} onClose={() => setShown(undefined)} />
      )}
      {shownServer === "add" && <AddServer onAdded={(id) => setShown({ id })} onClose={() => setShown("list")} />}
      {server && <ServerDialog server={server} onClose={() => setShown("list")} />}
    </>
  );
};
