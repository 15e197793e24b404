import type { LedgerCheck } from "@nodeloom/client";
import { Scale } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { creditNumber } from "../../ui/format";
import { Notice } from "../../ui/notice";
import { Card } from "../../ui/page";
import { Table } from "../../ui/table";
import { Time } from "../../ui/time";
import { AccountName } from "./account-name";
import { COMMON } from "../../messages/common";
import { LEDGER } from "../../messages/admin";

/** Compares the ledger of every account with its balances. */
export const LedgerSection = () => {
  const { busy, run } = useChange();
  const [check, setCheck] = useState<LedgerCheck>();
  return (
    <div className="flex flex-col gap-5">
      <Card title={LEDGER.checkHint}>
        <Button
          icon={Scale}
          busy={busy}
          variant="primary"
          onClick={() => void run(async () => setCheck((await request("adminCheckLedger", {})).body))}
        >
          {LEDGER.checkNow}
        </Button>
        {check && (
          <Notice
            kind={check.ok ? "ok" : "bad"}
            className="mt-4"
            title={check.ok ? LEDGER.noMismatches : LEDGER.mismatches(check.mismatches.length)}
          >
            {LEDGER.checked(check.accounts, check.nextCursor === null)}
          </Notice>
        )}
      </Card>
      {check && check.mismatches.length > 0 && (
        <Table
          label={LEDGER.mismatchesTitle}
          rows={check.mismatches}
          keyOf={({ userId, what, model }) => `${userId} ${what} ${model ?? ""}`}
          columns={[
            { title: COMMON.account, cell: ({ userId }) => <AccountName id={userId} /> },
            { title: LEDGER.field, cell: ({ what, model }) => `${what}${model === null ? "" : ` · ${model}`}` },
            { title: LEDGER.ledger, numeric: true, cell: ({ expected }) => creditNumber(expected) },
            { title: COMMON.account, numeric: true, cell: ({ actual }) => creditNumber(actual) },
          ]}
        />
      )}
      {check && check.staleHolds.length > 0 && (
        <Card title={LEDGER.staleHoldsHint}>
          <Table
            label={LEDGER.staleHolds}
            rows={check.staleHolds}
            keyOf={({ executionId }) => executionId}
            columns={[
              { title: LEDGER.run, cell: ({ executionId }) => <code className="font-mono text-xs">{executionId}</code> },
              { title: COMMON.credits, numeric: true, cell: ({ credits }) => creditNumber(credits) },
              { title: LEDGER.heldSince, numeric: true, cell: ({ heldAt }) => <Time iso={heldAt} /> },
            ]}
          />
        </Card>
      )}
    </div>
  );
};
