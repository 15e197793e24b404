import type { AdminUser } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../api/client";
import { useAction } from "../../api/use-action";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Dialog } from "../../ui/overlays/dialog";
import { Notice } from "../../ui/notice";

/** A link by which a user sets a new password: it works once, and is shown once. */
export const ResetDialog = ({ user, onClose }: { user: AdminUser; onClose: () => void }) => {
  const { busy, run } = useAction([]);
  const [link, setLink] = useState<string>();
  const make = async (): Promise<void> => setLink((await run(() => request("adminResetPassword", { params: { id: user.id } })))?.body.link);
  return (
    <Dialog title={`New password for ${user.email}`} width="md" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <p className="mb-4 text-sm text-muted">
        Give the link to its owner by a way that you trust. It works once, for an hour, and ends every session of the account.
      </p>
      {link === undefined ? (
        <Button variant="primary" busy={busy} onClick={() => void make()}>
          Make a link
        </Button>
      ) : (
        <div className="flex flex-col gap-3">
          <Notice kind="warn">Shown this once.</Notice>
          <Code text={link} label="Link" wrap />
        </div>
      )}
    </Dialog>
  );
};
