import { useQuery } from "@tanstack/react-query";
import { request } from "../../../api/client";
import { useChange } from "../../../api/use-change";
import { Check } from "../../../ui/inputs/field";
import { Card } from "../../../ui/page";
import { Time } from "../../../ui/time";
import { NOTICE_HINTS, NOTICE_TITLES } from "./notices";
import { mailQuery } from "./queries";
import { UnverifiedNotice } from "./unverified-notice";
import { MAIL_CARD } from "../../../messages/account";

const NOTICES = Object.keys(NOTICE_TITLES) as (keyof typeof NOTICE_TITLES)[];

/** Settings of emailed notices; hidden if mail isn't configured. */
export const MailCard = () => {
  const { data } = useQuery(mailQuery);
  const { busy, run } = useChange("mail");
  if (!data) return null;
  return (
    <Card title={MAIL_CARD.emailNotifications}>
      <div className="flex flex-col gap-4 text-sm">
        {data.verifiedAt === null ? (
          <UnverifiedNotice />
        ) : (
          <p className="text-muted">
            {MAIL_CARD.confirmed(data.email)} <Time iso={data.verifiedAt} />.
          </p>
        )}
        <fieldset className="flex flex-col gap-3" disabled={busy}>
          <legend className="mb-2 text-[13px] font-medium">{MAIL_CARD.emailMeAbout}</legend>
          {NOTICES.map((notice) => (
            <Check
              key={notice}
              label={NOTICE_TITLES[notice]}
              hint={NOTICE_HINTS[notice]}
              checked={data.notices[notice]}
              onCheck={(isOn) => void run(() => request("updateMailSettings", { body: { notices: { [notice]: isOn } } }), MAIL_CARD.saved)}
            />
          ))}
        </fieldset>
      </div>
    </Card>
  );
};
