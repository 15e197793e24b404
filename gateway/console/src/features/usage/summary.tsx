import { useQuery } from "@tanstack/react-query";
import { summaryQuery } from "./queries";
import { credits } from "../../ui/format";
import { Card } from "../../ui/page";
import { Bars } from "./bars";
import { SUMMARY } from "../../messages/usage";

/** Credits by day and model, including runs from the console. */
export const Summary = () => {
  const { data } = useQuery(summaryQuery);
  if (!data || data.days.length === 0) return null;
  const byModel = new Map<string, number>();
  for (const { model, creditsCost } of data.days.flatMap(({ models }) => models))
    byModel.set(model, (byModel.get(model) ?? 0) + creditsCost);
  const words = SUMMARY.total(credits(data.creditsCost), data.runs);
  return (
    <div className="mb-5 grid gap-5 lg:grid-cols-2">
      <Card title={SUMMARY.creditsByDay}>
        <Bars label={SUMMARY.creditsByDay} bars={data.days.map(({ day, creditsCost }) => [day, creditsCost] as const)} />
        <p className="mt-2 text-xs text-faint">{words}.</p>
      </Card>
      <Card title={SUMMARY.creditsByModel}>
        <Bars label={SUMMARY.creditsByModel} bars={[...byModel].sort(([, a], [, b]) => b - a)} />
      </Card>
    </div>
  );
};
