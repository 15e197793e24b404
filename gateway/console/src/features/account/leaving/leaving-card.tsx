import type { Me } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Card } from "../../../ui/page";
import { Time } from "../../../ui/time";
import { DeleteDialog } from "./delete-dialog";
import { COMMON } from "../../../messages/common";
import { LEAVING_CARD } from "../../../messages/account";

/** Deletes the account, or cancels the deletion. */
export const LeavingCard = ({ me }: { me: Me }) => {
  const [asking, setAsking] = useState(false);
  const { busy, run } = useChange("me");
  const { user, erasesAt } = me;
  return (
    <Card title={LEAVING_CARD.deleteAccount}>
      <div className="flex flex-col items-start gap-4 text-sm">
        {erasesAt === undefined ? (
          <>
            <p className="text-muted">
              {LEAVING_CARD.deleteHint}
              {user.role === "admin" && LEAVING_CARD.administratorHint}
            </p>
            <Button variant="danger" disabled={user.role === "admin"} onClick={() => setAsking(true)}>
              {COMMON.deleteMenu}
            </Button>
          </>
        ) : (
          <>
            <Notice kind="warn">
              {LEAVING_CARD.deletionScheduled} <Time iso={erasesAt} />
              {LEAVING_CARD.noRunsUntilCancelled}
            </Notice>
            <Button
              variant="primary"
              busy={busy}
              onClick={() => void run(() => request("restoreAccount", {}), LEAVING_CARD.deletionCancelled)}
            >
              {LEAVING_CARD.keepAccount}
            </Button>
          </>
        )}
      </div>
      {asking && <DeleteDialog email={user.email} onClose={() => setAsking(false)} />}
    </Card>
  );
};
