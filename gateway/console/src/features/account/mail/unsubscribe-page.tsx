import { useState } from "react";
import { request } from "../../../api/client";
import { Form } from "../../../parts/form";
import { SmallPage, tokenOfLink } from "../../../parts/small-page";
import { Notice } from "../../../ui/notice";
import { NOTICE_TITLES } from "./notices";

/** Target of a notice's unsubscribe link. Programs that prefetch links don't change anything. */
export const UnsubscribePage = () => {
  const [token] = useState(tokenOfLink);
  const [stopped, setStopped] = useState<keyof typeof NOTICE_TITLES>();
  const stop = async (): Promise<void> => setStopped((await request("unsubscribe", { query: { token: token ?? "" } })).body.notice);
  return (
    <SmallPage title="Stop these mails">
      {stopped !== undefined ? (
        <div role="status">
          <Notice kind="ok" title="No more of these">
            “{NOTICE_TITLES[stopped]}” is switched off. Your account page switches it on again.
          </Notice>
        </div>
      ) : token === undefined ? (
        <Notice kind="warn">This address lacks the token of the link. Open the whole link of the mail.</Notice>
      ) : (
        <Form action="Stop these mails" submit={stop}>
          <p className="text-sm text-muted">You won’t be mailed about this any more. Links that you ask for still come.</p>
        </Form>
      )}
    </SmallPage>
  );
};
