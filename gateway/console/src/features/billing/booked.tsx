import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { credits } from "../../ui/format";
import { Notice } from "../../ui/notice";
import { bookedQuery } from "./queries";
import { BOOKED } from "../../messages/billing";

/** State of the payment from which the buyer returns. */
export const Booked = ({ session }: { session: string }) => {
  const client = useQueryClient();
  const { data: row } = useQuery(bookedQuery(session));
  useEffect(() => {
    if (row) void client.invalidateQueries({ queryKey: ["me"] });
  }, [row, client]);
  if (row)
    return (
      <Notice kind="ok" className="mb-5" title={BOOKED.thankYou}>
        {BOOKED.creditsAdded(credits(row.credits))}
      </Notice>
    );
  return (
    <Notice className="mb-5" title={BOOKED.paymentReceived}>
      {BOOKED.paymentReceivedHint}
    </Notice>
  );
};
