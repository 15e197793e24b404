import type { Me } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Card } from "../../../ui/page";
import { Time } from "../../../ui/time";
import { DeleteDialog } from "./delete-dialog";

/** Deletes the account, or cancels that. */
export const LeavingCard = ({ me }: { me: Me }) => {
  const [asking, setAsking] = useState(false);
  const { busy, run } = useChange("me");
  const { user, erasesAt } = me;
  return (
    <Card title="Delete the account">
      <div className="flex flex-col items-start gap-4 text-sm">
        {erasesAt === undefined ? (
          <>
            <p className="text-muted">
              Everything goes, for good, after a few days in which you can change your mind. Take an export before.
              {user.role === "admin" && " An administrator's account stays: another administrator takes the role from it first."}
            </p>
            <Button variant="danger" disabled={user.role === "admin"} onClick={() => setAsking(true)}>
              Delete…
            </Button>
          </>
        ) : (
          <>
            <Notice kind="warn">
              This account is deleted <Time iso={erasesAt} />. Until then nothing can be run, and you can still take it back.
            </Notice>
            <Button
              variant="primary"
              busy={busy}
              onClick={() => void run(() => request("restoreAccount", {}), "The account stays. Schedules and hooks go on.")}
            >
              Keep the account
            </Button>
          </>
        )}
      </div>
      {asking && <DeleteDialog email={user.email} onClose={() => setAsking(false)} />}
    </Card>
  );
};
