import type { Model, ModelOrder, Task } from "@nodeloom/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { ArrowDown, ArrowUp, ArrowUpToLine, RotateCcw } from "lucide-react";
import { LoadFailure } from "../../../parts/error-pages";
import { request } from "../../../api/client";
import { modelsQuery, tasksQuery } from "../../../api/queries";
import { useChange } from "../../../api/use-change";
import { Badge } from "../../../ui/badge";
import { Button, IconButton } from "../../../ui/button";
import { Skeleton } from "../../../ui/notice";
import { Card } from "../../../ui/page";
import { runnerOf, standingOf } from "../../../parts/model-facts";
import { moved, orderFor } from "./order";
import { MODEL_ORDERS } from "../../../messages/admin-models";

const ordersQuery = queryOptions({
  queryKey: ["models", "orders"],
  queryFn: async ({ signal }) => (await request("adminListModelOrders", { signal })).body,
});

interface RowProps {
  model: Model;
  isTaken: boolean;
  /** Undefined at the ends of the row. */
  onFirst: (() => void) | undefined;
  onUp: (() => void) | undefined;
  onDown: (() => void) | undefined;
  busy: boolean;
}

const Row = ({ model, isTaken, onFirst, onUp, onDown, busy }: RowProps) => {
  const { title, tone } = standingOf(model);
  return (
    <li className="flex items-center gap-3 py-1.5 max-md:flex-wrap max-md:justify-between">
      <span className="min-w-0 flex-1 max-md:basis-full">
        <span className="flex items-center gap-2">
          <span className="truncate text-sm font-medium">{model.displayName}</span>
          {isTaken && <Badge tone="accent">{MODEL_ORDERS.currentDefault}</Badge>}
        </span>
        <span className="block truncate text-xs text-faint">{runnerOf(model)}</span>
      </span>
      <Badge tone={tone}>{title}</Badge>
      <span className="flex">
        <IconButton
          size="sm"
          icon={ArrowUpToLine}
          label={MODEL_ORDERS.moveToTheTop(model.displayName)}
          disabled={busy || !onFirst}
          onClick={onFirst}
        />
        <IconButton size="sm" icon={ArrowUp} label={MODEL_ORDERS.moveUp(model.displayName)} disabled={busy || !onUp} onClick={onUp} />
        <IconButton
          size="sm"
          icon={ArrowDown}
          label={MODEL_ORDERS.moveDown(model.displayName)}
          disabled={busy || !onDown}
          onClick={onDown}
        />
      </span>
    </li>
  );
};

interface TaskCardProps {
  task: Task;
  order: ModelOrder;
  models: readonly Model[];
}

const TaskCard = ({ task: { name, summary, model: takenModel }, order: { task, order, models: row }, models }: TaskCardProps) => {
  const { busy, run } = useChange("models");
  const byName = new Map(models.map((model) => [model.internalName, model]));
  const knownModels = row.filter((one) => byName.has(one));
  const put = (next: readonly string[]): void =>
    void run(() => request("adminPutModelOrder", { params: { task }, body: { order: [...next] } }), MODEL_ORDERS.orderForChanged(name));
  const move = (from: number, to: number): (() => void) | undefined =>
    to < 0 || to >= knownModels.length ? undefined : () => put(orderFor(task, moved(knownModels, from, to), models));
  return (
    <Card
      title={name}
      actions={
        order.length > 0 && (
          <Button size="sm" icon={RotateCcw} disabled={busy} onClick={() => put([])}>
            {MODEL_ORDERS.resetToBuiltInOrder}
          </Button>
        )
      }
    >
      <p className="mb-1 text-[13px] text-muted">{summary}</p>
      {knownModels.length === 0 && <p className="text-sm text-faint">{MODEL_ORDERS.empty}</p>}
      <ol aria-label={MODEL_ORDERS.modelsFor(name)} className="divide-y">
        {knownModels.map((one, index) => (
          <Row
            key={one}
            model={byName.get(one)!}
            isTaken={one === takenModel}
            onFirst={index === 0 ? undefined : move(index, 0)}
            onUp={move(index, index - 1)}
            onDown={move(index, index + 1)}
            busy={busy}
          />
        ))}
      </ol>
    </Card>
  );
};

/** For administrators: order of models for each task; the first ready one is used. */
export const ModelOrdersSection = () => {
  const [orders, tasks, models] = [useQuery(ordersQuery), useQuery(tasksQuery), useQuery(modelsQuery)];
  const failed = [orders, tasks, models].find(({ isError }) => isError);
  if (failed) return <LoadFailure error={failed.error} retry={() => void failed.refetch()} />;
  if (!orders.data || !tasks.data || !models.data) return <Skeleton lines={8} />;
  return (
    <>
      <p className="mb-4 max-w-2xl text-sm text-muted">{MODEL_ORDERS.intro}</p>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        {tasks.data.map((task) => {
          const order = orders.data.find((one) => one.task === task.task);
          return order && <TaskCard key={task.task} task={task} order={order} models={models.data} />;
        })}
      </div>
    </>
  );
};
