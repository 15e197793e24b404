import { useState } from "react";
import { request } from "../../../api/client";
import { useWork } from "../../../api/use-work";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { SmallPage, tokenOfLink } from "../../../parts/small-page";
import { NOTICE_TITLES } from "./notices";

/** Where the link at the foot of a notice leads. Programs that open links by themselves switch nothing off. */
export const UnsubscribePage = () => {
  const [token] = useState(tokenOfLink);
  const [stopped, setStopped] = useState<keyof typeof NOTICE_TITLES>();
  const { busy, failure, act } = useWork<"stop">();
  const stop = (): void =>
    void act("stop", async () => {
      setStopped((await request("unsubscribe", { query: { token: token ?? "" } })).body.notice);
    });
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
        <div className="flex flex-col gap-4">
          {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
          <p className="text-sm text-muted">You won’t be mailed about this any more. Links that you ask for still come.</p>
          <Button variant="primary" busy={busy !== undefined} onClick={stop}>
            Stop these mails
          </Button>
        </div>
      )}
    </SmallPage>
  );
};
