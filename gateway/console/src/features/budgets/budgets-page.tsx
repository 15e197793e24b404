import type { ApiKey, Budget } from "@nodeloom/client";
import { useQuery } from "@tanstack/react-query";
import { Pencil, Plus, Wallet } from "lucide-react";
import { useState } from "react";
import { keysQuery, namedKeysQuery, workflowsQuery } from "../../api/queries";
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
import { COMMON } from "../../messages/common";
import { BUDGETS_PAGE } from "../../messages/budgets";

const columnsOf = (
  keys: readonly ApiKey[],
  nameOf: (slug: string) => string,
  change: (budget: Budget) => void,
): readonly Column<Budget>[] => [
  {
    title: BUDGETS_PAGE.appliesTo,
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
  { title: BUDGETS_PAGE.used, cell: (budget) => <BudgetBar budget={budget} className="min-w-40 max-md:min-w-24" /> },
  {
    title: BUDGETS_PAGE.resets,
    wide: true,
    numeric: true,
    cell: ({ resetsAt }) => (resetsAt === null ? <span className="text-faint">{BUDGETS_PAGE.never}</span> : <Time iso={resetsAt} />),
  },
  {
    title: BUDGETS_PAGE.alertsAt,
    wide: true,
    numeric: true,
    cell: ({ alertAt }) => (alertAt.length === 0 ? <span className="text-faint">–</span> : `${sharesText(alertAt)} %`),
  },
  {
    title: COMMON.actions,
    numeric: true,
    cell: (budget) => (
      <IconButton
        icon={Pencil}
        size="sm"
        label={BUDGETS_PAGE.changeBudgetFor(scopeWords(scopeOf(budget), keys, nameOf).name)}
        onClick={() => change(budget)}
      />
    ),
  },
];

export const BudgetsPage = () => {
  const budgets = useQuery(budgetsQuery);
  const keys = useQuery(keysQuery).data ?? [];
  const namedKeys = useQuery(namedKeysQuery).data ?? [];
  const workflows = useQuery(workflowsQuery).data ?? [];
  const nameOf = useWorkflowNames();
  const [asking, setAsking] = useState<Budget | "new">();
  const close = (): void => setAsking(undefined);
  return (
    <Page
      title={COMMON.budgets}
      lead={BUDGETS_PAGE.intro}
      actions={
        <Button icon={Plus} variant="primary" onClick={() => setAsking("new")}>
          {BUDGETS_PAGE.newBudget}
        </Button>
      }
    >
      <Loaded of={budgets} lines={4}>
        {(rows) => (
          <Table
            label={COMMON.budgets}
            columns={columnsOf(namedKeys, nameOf, setAsking)}
            rows={rows}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Wallet} title={BUDGETS_PAGE.noBudgetsYet}>
                {BUDGETS_PAGE.emptyHint}
              </Empty>
            }
          />
        )}
      </Loaded>
      {asking === "new" && <BudgetDialog budget={undefined} keys={keys} workflows={workflows} onClose={close} />}
      {asking !== undefined && asking !== "new" && <BudgetDialog of={scopeOf(asking)} budget={asking} keys={namedKeys} onClose={close} />}
    </Page>
  );
};
