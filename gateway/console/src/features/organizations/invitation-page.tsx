import { request } from "../../api/client";
import { workFor } from "../../api/organization";
import { Form } from "../../parts/form";
import { tokenOfLink } from "../../parts/small-page";
import { Notice } from "../../ui/notice";
import { Page } from "../../ui/page";

/** Target of an invitation's link. Its token follows `#`, which no server sees. */
export const InvitationPage = () => {
  const token = tokenOfLink();
  const join = async (): Promise<void> => workFor((await request("acceptInvitation", { body: { token: token ?? "" } })).body.id);
  return (
    <Page
      narrow
      title="You are invited"
      lead="Join, and you work with the others of the organization. Your own account stays yours alone; you can switch between both at any time."
    >
      {token === undefined ? (
        <Notice kind="bad">The link is not complete: copy it whole.</Notice>
      ) : (
        <Form action="Join the organization" submit={join} />
      )}
    </Page>
  );
};
