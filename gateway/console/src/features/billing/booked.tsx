import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { credits } from "../../ui/format";
import { Notice } from "../../ui/notice";
import { bookedQuery } from "./queries";

/** State of the payment that the buyer returns from. */
export const Booked = ({ session }: { session: string }) => {
  const client = useQueryClient();
  const { data: row } = useQuery(bookedQuery(session));
  useEffect(() => {
    if (row) void client.invalidateQueries({ queryKey: ["me"] });
  }, [row, client]);
  if (row)
    return (
      <Notice kind="ok" className="mb-5" title="Thank you">
        {credits(row.credits)} are in your account.
      </Notice>
    );
  return (
    <Notice className="mb-5" title="Stripe has your payment">
      The credits are here as soon as Stripe says that it was paid: moments for cards, days for bank transfers. You need not wait on this
      page.
    </Notice>
  );
};
