import type { Organization } from "@nodeloom/client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { chosenOrganization } from "../../../api/organization";
import { meQuery } from "../../../api/queries";
import { Button } from "../../../ui/button";
import { Card } from "../../../ui/page";
import { DeleteDialog } from "./delete-dialog";
import { LeavingNotice } from "./leaving-notice";
import { COMMON } from "../../../messages/common";
import { LEAVING_CARD } from "../../../messages/organizations";

/** Deletes an organization, or cancels the deletion. */
export const LeavingCard = ({ organization }: { organization: Organization }) => {
  const { data: me } = useSuspenseQuery(meQuery);
  const [asking, setAsking] = useState(false);
  const { id, erasesAt } = organization;
  return (
    <Card title={LEAVING_CARD.deleteOrganization}>
      <div className="flex flex-col items-start gap-4 text-sm">
        {erasesAt === null ? (
          <>
            <p className="text-muted">{LEAVING_CARD.deleteHint}</p>
            <Button variant="danger" onClick={() => setAsking(true)}>
              {COMMON.deleteMenu}
            </Button>
          </>
        ) : chosenOrganization() === id ? (
          <p className="text-muted">{LEAVING_CARD.deletionScheduled}</p>
        ) : (
          <LeavingNotice organization={{ ...organization, erasesAt }} className="w-full" />
        )}
      </div>
      {asking && me && <DeleteDialog organization={organization} email={me.user.email} onClose={() => setAsking(false)} />}
    </Card>
  );
};
