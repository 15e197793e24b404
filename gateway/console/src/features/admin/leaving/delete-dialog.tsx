import type { AdminUser } from "@nodeloom/client";
import { request } from "../../../api/client";
import { useAction } from "../../../api/use-action";
import { Button } from "../../../ui/button";
import { Dialog } from "../../../ui/overlays/dialog";
import { Time } from "../../../ui/time";

/** Has somebody's account deleted after the waiting time, or takes that back. */
export const DeleteDialog = ({ user, onClose }: { user: AdminUser; onClose: () => void }) => {
  const { busy, run } = useAction(["admin-users"]);
  const isLeaving = user.erasesAt !== null;
  const change = async (): Promise<void> => {
    const params = { id: user.id };
    const done = isLeaving ? `${user.email} stays.` : `${user.email} is deleted after the waiting time.`;
    await run(() => request(isLeaving ? "adminRestoreUser" : "adminDeleteUser", { params }), done);
    onClose();
  };
  return (
    <Dialog
      title={isLeaving ? `Keep ${user.email}` : `Delete ${user.email}`}
      onClose={onClose}
      actions={
        <Button variant={isLeaving ? "primary" : "danger"} busy={busy} onClick={() => void change()}>
          {isLeaving ? "Keep the account" : "Delete the account"}
        </Button>
      }
    >
      <p className="text-sm text-muted">
        {isLeaving ? (
          <>
            It is to be deleted <Time iso={user.erasesAt} />.
          </>
        ) : (
          "What runs is cancelled now. After the waiting time everything goes but the ledger's amounts, for good. The owner can take it back until then. The audit keeps that you did it."
        )}
      </p>
    </Dialog>
  );
};
