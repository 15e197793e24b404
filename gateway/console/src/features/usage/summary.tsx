import { useQuery } from "@tanstack/react-query";
import { summaryQuery } from "./queries";
import { credits, whole } from "../../ui/format";
import { Card } from "../../ui/page";
import { Bars } from "./bars";

/** Credits by day and model, including runs from the console. */
export const Summary = () => {
  const { data } = useQuery(summaryQuery);
  if (!data || data.days.length === 0) return null;
  const byModel = new Map<string, number>();
  for (const { model, creditsCost } of data.days.flatMap(({ models }) => models))
    byModel.set(model, (byModel.get(model) ?? 0) + creditsCost);
  const words = `${credits(data.creditsCost)} in ${whole(data.runs)} ${data.runs === 1 ? "run" : "runs"}, from the console and by key`;
  return (
    <div className="mb-5 grid gap-5 lg:grid-cols-2">
      <Card title="Credits by day">
        <Bars label="Credits by day" bars={data.days.map(({ day, creditsCost }) => [day, creditsCost] as const)} />
        <p className="mt-2 text-xs text-faint">{words}.</p>
      </Card>
      <Card title="Credits by model">
        <Bars label="Credits by model" bars={[...byModel].sort(([, a], [, b]) => b - a)} />
      </Card>
    </div>
  );
};
