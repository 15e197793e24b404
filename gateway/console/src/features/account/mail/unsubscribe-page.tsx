import { useState } from "react";
import { request } from "../../../api/client";
import { Form } from "../../../parts/form";
import { SmallPage, tokenOfLink } from "../../../parts/small-page";
import { Notice } from "../../../ui/notice";
import { NOTICE_TITLES } from "./notices";
import { UNSUBSCRIBE_PAGE } from "../../../messages/account";

/** Page of a notice's unsubscribe link. A click unsubscribes, so programs that prefetch links change nothing. */
export const UnsubscribePage = () => {
  const [token] = useState(tokenOfLink);
  const [stopped, setStopped] = useState<keyof typeof NOTICE_TITLES>();
  const stop = async (): Promise<void> => setStopped((await request("unsubscribe", { query: { token: token ?? "" } })).body.notice);
  return (
    <SmallPage title={UNSUBSCRIBE_PAGE.unsubscribe}>
      {stopped !== undefined ? (
        <div role="status">
          <Notice kind="ok" title={UNSUBSCRIBE_PAGE.unsubscribed}>
            {UNSUBSCRIBE_PAGE.turnedOff(NOTICE_TITLES[stopped])}
          </Notice>
        </div>
      ) : token === undefined ? (
        <Notice kind="warn">{UNSUBSCRIBE_PAGE.linkIncomplete}</Notice>
      ) : (
        <Form action={UNSUBSCRIBE_PAGE.unsubscribe} submit={stop}>
          <p className="text-sm text-muted">{UNSUBSCRIBE_PAGE.consequence}</p>
        </Form>
      )}
    </SmallPage>
  );
};
