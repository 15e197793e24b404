import type { ListedSecret } from "@nodeloom/client";
import { request } from "../../api/client";
import { useAction } from "../../api/use-action";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";

export const DeleteSecretDialog = ({ secret, onClose }: { secret: ListedSecret; onClose: () => void }) => {
  const { busy, run } = useAction(["secrets"]);
  const { name, usedBy } = secret;
  const remove = async (): Promise<void> => {
    await run(() => request("deleteSecret", { params: { name } }), `${name} was removed.`);
    onClose();
  };
  return (
    <Dialog
      title={`Remove ${name}?`}
      onClose={onClose}
      actions={
        <>
          <Button autoFocus onClick={onClose}>
            Cancel
          </Button>
          <Button variant="danger" busy={busy} onClick={() => void remove()}>
            Remove
          </Button>
        </>
      }
    >
      <p className="text-sm wrap-anywhere">
        Requests that would send it fail at once, and workflows that name it can’t run
        {usedBy.length > 0 ? `: ${usedBy.map((one) => one.name).join(", ")}.` : "; none of yours does."} This can’t be undone.
      </p>
    </Dialog>
  );
};
