import type { AdminUser } from "@nodeloom/client";
import { request } from "../../../api/client";
import { useAction } from "../../../api/use-action";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/overlays/dialog";

/** Ends the link of somebody's account to the OpenID provider. */
export const UnlinkDialog = ({ user, onClose }: { user: AdminUser; onClose: () => void }) => {
  const { busy, run } = useAction(["admin-users"]);
  const unlink = async (): Promise<void> => {
    await run(() => request("adminUnlinkOidc", { params: { id: user.id } }), `${user.email} is not linked to the provider any more.`);
    onClose();
  };
  return (
    <Dialog
      title={`Link of ${user.email}`}
      onClose={onClose}
      actions={
        <Button variant="danger" busy={busy} onClick={() => void unlink()}>
          End the link
        </Button>
      }
    >
      <p className="text-sm text-muted">
        Whoever signs in by the provider as this account can't any more, and its sessions end. An account without a password needs a
        password link afterwards. The audit keeps that you did it.
      </p>
    </Dialog>
  );
};
