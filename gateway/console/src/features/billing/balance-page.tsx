import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { meQuery } from "../../api/queries";
import { buttonClasses } from "../../ui/button";
import { Skeleton } from "../../ui/notice";
import { Page } from "../../ui/page";
import { BalanceCards } from "../../parts/balance-cards";
import { Booked } from "./booked";
import { BuyCredits } from "./buy-credits";
import { billingQuery } from "./queries";
import { COMMON } from "../../messages/common";
import { BALANCE_PAGE } from "../../messages/billing";

const route = getRouteApi("/shell/balance");

export const BalancePage = () => {
  const { session } = route.useSearch();
  const { data: me } = useSuspenseQuery(meQuery);
  const billing = useQuery(billingQuery);
  const terms = billing.data?.purchases;
  return (
    <Page
      title={COMMON.balance}
      lead={BALANCE_PAGE.intro}
      actions={
        <>
          <Link to="/history" className={buttonClasses("secondary", "md")}>
            {BALANCE_PAGE.history}
          </Link>
          <Link to="/plans" className={buttonClasses("secondary", "md")}>
            {COMMON.plans}
          </Link>
        </>
      }
    >
      {session !== undefined && <Booked session={session} />}
      {me && <BalanceCards me={me} />}
      {billing.isPending && <Skeleton lines={3} />}
      {terms && me?.user.approved && <BuyCredits terms={terms} />}
      {terms && me?.user.approved === false && <p className="text-sm text-muted">{BALANCE_PAGE.awaitsApproval}</p>}
      {terms === null && <p className="text-sm text-muted">{BALANCE_PAGE.notSold}</p>}
    </Page>
  );
};
