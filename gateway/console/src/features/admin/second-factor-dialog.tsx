import type { AdminUser } from "@nodeloom/client";
import { request } from "../../api/client";
import { useAction } from "../../api/use-action";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlays/dialog";

/** Switches the second factor of somebody off who can give no code any more. */
export const SecondFactorDialog = ({ user, onClose }: { user: AdminUser; onClose: () => void }) => {
  const { busy, run } = useAction(["admin-users"]);
  const reset = async (): Promise<void> => {
    await run(() => request("adminResetSecondFactor", { params: { id: user.id } }), `${user.email} signs in by the password alone now.`);
    onClose();
  };
  return (
    <Dialog
      title={`Second factor of ${user.email}`}
      onClose={onClose}
      actions={
        <Button variant="danger" busy={busy} onClick={() => void reset()}>
          Switch off
        </Button>
      }
    >
      <p className="text-sm text-muted">
        Make sure that it is the owner who asks: afterwards the password alone signs in. The audit keeps that you did it.
      </p>
    </Dialog>
  );
};
