import { request } from "../../api/client";
import { workFor } from "../../api/organization";
import { Form } from "../../parts/form";
import { tokenOfLink } from "../../parts/small-page";
import { Notice } from "../../ui/notice";
import { Page } from "../../ui/page";
import { INVITATION_PAGE } from "../../messages/organizations";

/** Page of an invitation's link. Its token follows `#`, so that no server logs it. */
export const InvitationPage = () => {
  const token = tokenOfLink();
  const join = async (): Promise<void> => workFor((await request("acceptInvitation", { body: { token: token ?? "" } })).body.id);
  return (
    <Page narrow title={INVITATION_PAGE.joinAnOrganization} lead={INVITATION_PAGE.intro}>
      {token === undefined ? (
        <Notice kind="bad">{INVITATION_PAGE.linkIncomplete}</Notice>
      ) : (
        <Form action={INVITATION_PAGE.joinOrganization} submit={join} />
      )}
    </Page>
  );
};
