import { useState } from "react";
import { messageOf, request } from "../../api/client";
import { workFor } from "../../api/organization";
import { tokenOfLink } from "../../parts/small-page";
import { Button } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { Page } from "../../ui/page";

/** Where the link of an invitation leads. Its token is behind `#`, which no server sees. */
export const InvitationPage = () => {
  const token = tokenOfLink();
  const [failure, setFailure] = useState(token === undefined ? "The link is not complete: copy it whole." : undefined);
  const [busy, setBusy] = useState(false);
  const join = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const { body } = await request("acceptInvitation", { body: { token: token ?? "" } });
      workFor(body.id);
    } catch (error) {
      setFailure(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Page
      narrow
      title="You are invited"
      lead="Join, and you work with the others of the organization. Your own account stays yours alone; you can switch between both at any time."
    >
      {failure !== undefined && (
        <Notice kind="bad" className="mb-5">
          {failure}
        </Notice>
      )}
      <Button variant="primary" busy={busy} disabled={token === undefined} onClick={() => void join()}>
        Join the organization
      </Button>
    </Page>
  );
};
