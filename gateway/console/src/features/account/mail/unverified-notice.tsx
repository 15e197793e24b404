import { useQuery } from "@tanstack/react-query";
import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { mailQuery } from "./queries";

/** Notice about an unconfirmed address; hidden without mail. */
export const UnverifiedNotice = ({ className }: { className?: string }) => {
  const { data } = useQuery(mailQuery);
  const { busy, run } = useChange();
  if (!data || data.verifiedAt !== null) return null;
  return (
    <Notice
      kind="warn"
      title="Confirm your address"
      {...(className === undefined ? {} : { className })}
      actions={
        <Button
          size="sm"
          busy={busy}
          onClick={() =>
            void run(() => request("requestVerification", {}), "A link is on its way. Another one can be asked for in five minutes.")
          }
        >
          Mail the link again
        </Button>
      }
    >
      A link was mailed to {data.email}. Until you have opened it, no notices are sent, and a new password by mail ends your keys.
    </Notice>
  );
};
