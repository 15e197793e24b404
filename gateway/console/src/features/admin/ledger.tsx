import type { LedgerCheck } from "@nodeloom/client";
import { Scale } from "lucide-react";
import { useState } from "react";
import { request } from "../../api/client";
import { useChange } from "../../api/use-change";
import { Button } from "../../ui/button";
import { creditNumber, whole } from "../../ui/format";
import { Notice } from "../../ui/notice";
import { Card } from "../../ui/page";
import { Table } from "../../ui/table";
import { Time } from "../../ui/time";
import { AccountName } from "./account-name";

/** Compares the ledger of every account with its balances. */
export const LedgerSection = () => {
  const { busy, run } = useChange();
  const [check, setCheck] = useState<LedgerCheck>();
  return (
    <div className="flex flex-col gap-5">
      <Card title="Does every balance equal the sum of its ledger?">
        <Button
          icon={Scale}
          busy={busy}
          variant="primary"
          onClick={() => void run(async () => setCheck((await request("adminCheckLedger", {})).body))}
        >
          Check now
        </Button>
        {check && (
          <Notice
            kind={check.ok ? "ok" : "bad"}
            className="mt-4"
            title={check.ok ? "Everything agrees" : `${check.mismatches.length} mismatches`}
          >
            {whole(check.accounts)} accounts were added up.{check.nextCursor === null ? "" : " There was not time for all of them."}
          </Notice>
        )}
      </Card>
      {check && check.mismatches.length > 0 && (
        <Table
          label="Mismatches"
          rows={check.mismatches}
          keyOf={({ userId, what, model }) => `${userId} ${what} ${model ?? ""}`}
          columns={[
            { title: "Account", cell: ({ userId }) => <AccountName id={userId} /> },
            { title: "What", cell: ({ what, model }) => `${what}${model === null ? "" : ` · ${model}`}` },
            { title: "By the ledger", numeric: true, cell: ({ expected }) => creditNumber(expected) },
            { title: "By the account", numeric: true, cell: ({ actual }) => creditNumber(actual) },
          ]}
        />
      )}
      {check && check.staleHolds.length > 0 && (
        <Card title="Held longer than any run may take">
          <Table
            label="Stale holds"
            rows={check.staleHolds}
            keyOf={({ executionId }) => executionId}
            columns={[
              { title: "Run", cell: ({ executionId }) => <code className="font-mono text-xs">{executionId}</code> },
              { title: "Credits", numeric: true, cell: ({ credits }) => creditNumber(credits) },
              { title: "Since", numeric: true, cell: ({ heldAt }) => <Time iso={heldAt} /> },
            ]}
          />
        </Card>
      )}
    </div>
  );
};
