import type { ApiKey, Budget } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Pencil, Plus, Wallet } from "lucide-react";
import { useState } from "react";
import { keysQuery, workflowsQuery } from "../../api/queries";
import { Loaded } from "../../parts/loaded";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Empty } from "../../ui/notice";
import { Page } from "../../ui/page";
import { Table, type Column } from "../../ui/table";
import { Time } from "../../ui/time";
import { useWorkflowNames } from "../../parts/workflow-names";
import { BudgetBar } from "../../parts/budgets/budget-bar";
import { BudgetDialog } from "../../parts/budgets/budget-dialog";
import { budgetsQuery, scopeOf, scopeWords, sharesText } from "../../parts/budgets/budgets";

const columnsOf = (
  keys: readonly ApiKey[],
  nameOf: (slug: string) => string,
  change: (budget: Budget) => void,
): readonly Column<Budget>[] => [
  {
    title: "Of",
    className: "max-md:max-w-28!",
    cell: (budget) => {
      const { kind, name } = scopeWords(scopeOf(budget), keys, nameOf);
      return (
        <span className="flex min-w-0 flex-col gap-1">
          <span className="truncate font-medium" dir="auto">
            {name}
          </span>
          <Badge className="self-start">{kind}</Badge>
        </span>
      );
    },
  },
  { title: "Used", cell: (budget) => <BudgetBar budget={budget} className="min-w-40 max-md:min-w-24" /> },
  {
    title: "Begins anew",
    wide: true,
    numeric: true,
    cell: ({ resetsAt }) => (resetsAt === null ? <span className="text-faint">never</span> : <Time iso={resetsAt} />),
  },
  {
    title: "Alerts at",
    wide: true,
    numeric: true,
    cell: ({ alertAt }) => (alertAt.length === 0 ? <span className="text-faint">–</span> : `${sharesText(alertAt)} %`),
  },
  {
    title: "Actions",
    numeric: true,
    cell: (budget) => (
      <IconButton
        icon={Pencil}
        size="sm"
        label={`Change the budget of ${scopeWords(scopeOf(budget), keys, nameOf).name}`}
        onClick={() => change(budget)}
      />
    ),
  },
];

export const BudgetsPage = () => {
  const budgets = useQuery(budgetsQuery);
  const keys = useQuery(keysQuery).data ?? [];
  const workflows = useQuery(workflowsQuery).data ?? [];
  const nameOf = useWorkflowNames();
  const [asking, setAsking] = useState<Budget | "new">();
  const close = (): void => setAsking(undefined);
  return (
    <Page
      title="Budgets"
      lead="What runs of a key, of a workflow, or for one of your customers may cost. Not a thousandth of a credit more."
      actions={
        <Button icon={Plus} variant="primary" onClick={() => setAsking("new")}>
          New budget
        </Button>
      }
    >
      <Loaded of={budgets} lines={4}>
        {(rows) => (
          <Table
            label="Budgets"
            columns={columnsOf(keys, nameOf, setAsking)}
            rows={rows}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Wallet} title="No budgets yet">
                Runs may take all credits of the account. A budget bounds those of a key, of a workflow, or of runs whose metadata name a
                customer.
              </Empty>
            }
          />
        )}
      </Loaded>
      {asking === "new" && <BudgetDialog budget={undefined} keys={keys} workflows={workflows} onClose={close} />}
      {asking !== undefined && asking !== "new" && <BudgetDialog of={scopeOf(asking)} budget={asking} keys={keys} onClose={close} />}
    </Page>
  );
};
