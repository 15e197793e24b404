import { useQuery } from "@tanstack/react-query";
import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { mailQuery } from "./queries";
import { UNVERIFIED_NOTICE } from "../../../messages/account";

/** Notice about an unconfirmed address; hidden if mail isn't configured. */
export const UnverifiedNotice = ({ className }: { className?: string }) => {
  const { data } = useQuery(mailQuery);
  const { busy, run } = useChange();
  if (!data || data.verifiedAt !== null) return null;
  return (
    <Notice
      kind="warn"
      title={UNVERIFIED_NOTICE.confirmYourEmailAddress}
      {...(className === undefined ? {} : { className })}
      actions={
        <Button size="sm" busy={busy} onClick={() => void run(() => request("requestVerification", {}), UNVERIFIED_NOTICE.linkSent)}>
          {UNVERIFIED_NOTICE.sendAgain}
        </Button>
      }
    >
      {UNVERIFIED_NOTICE.linkSentTo(data.email)}
    </Notice>
  );
};
