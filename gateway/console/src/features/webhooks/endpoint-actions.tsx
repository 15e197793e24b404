import type { WebhookEndpoint, WebhookEndpointWithSecret } from "@nodeloom/client";
import { Ellipsis, Pause, Pencil, Play, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { useChange } from "../../api/use-change";
import { IconButton } from "../../ui/button";
import { Menu } from "../../ui/overlays/menu";
import { DeleteDialog, EndpointDialog, RotateDialog, SecretDialog } from "./endpoint-dialogs";
import { READS, setDisabled } from "./queries";
import { COMMON } from "../../messages/common";
import { WEBHOOKS_PAGE } from "../../messages/webhooks";

interface Props {
  endpoint: WebhookEndpoint;
  onDeleted?: () => Promise<void>;
}

/** Menu of an endpoint, with its dialogs. */
export const EndpointActions = ({ endpoint, onDeleted }: Props) => {
  const [asking, setAsking] = useState<"change" | "rotate" | "delete">();
  const [issued, setIssued] = useState<WebhookEndpointWithSecret>();
  const { run } = useChange(...READS);
  const close = (): void => setAsking(undefined);
  const isOff = endpoint.disabledAt !== null;
  return (
    <>
      <Menu
        trigger={<IconButton icon={Ellipsis} size="sm" label={WEBHOOKS_PAGE.actionsFor(endpoint.url)} />}
        entries={[
          { label: WEBHOOKS_PAGE.change, icon: Pencil, run: () => setAsking("change") },
          { label: WEBHOOKS_PAGE.rotate, icon: RefreshCw, run: () => setAsking("rotate") },
          {
            label: isOff ? WEBHOOKS_PAGE.enable : WEBHOOKS_PAGE.disable,
            icon: isOff ? Play : Pause,
            run: () => void run(() => setDisabled(endpoint, !isOff), isOff ? WEBHOOKS_PAGE.isEnabled : WEBHOOKS_PAGE.isDisabled),
          },
          null,
          { label: COMMON.deleteMenu, icon: Trash2, danger: true, run: () => setAsking("delete") },
        ]}
      />
      {asking === "change" && <EndpointDialog endpoint={endpoint} onIssued={setIssued} onClose={close} />}
      {asking === "rotate" && <RotateDialog endpoint={endpoint} onIssued={setIssued} onClose={close} />}
      {asking === "delete" && <DeleteDialog endpoint={endpoint} {...(onDeleted && { onDeleted })} onClose={close} />}
      {issued && <SecretDialog issued={issued} onClose={() => setIssued(undefined)} />}
    </>
  );
};
