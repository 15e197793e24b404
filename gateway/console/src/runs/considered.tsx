import type { NodeState } from "@nodeloom/client";
import { CONSIDERED } from "../messages/runs";
import { creditNumber, duration } from "../ui/format";

const PERCENT = 100;

/** The model chosen for a node's task, and why the others weren't. Nothing for a node that names its model. */
export const Considered = ({
  title,
  choice: { chosen, considered },
  className,
}: {
  /** Name of the node, if it isn't shown beside the choice. */
  title?: string;
  choice: Pick<NodeState, "chosen" | "considered">;
  className?: string;
}) => {
  if (chosen === undefined || considered === undefined) return null;
  return (
    <details className={className}>
      <summary className="text-xs text-muted wrap-anywhere">{CONSIDERED.chosen(title, chosen, considered[0]?.reason ?? "")}</summary>
      <div className="mt-1.5 overflow-x-auto">
        <table className="w-full text-left text-xs">
          <thead className="text-faint">
            <tr>
              {[CONSIDERED.model, CONSIDERED.price, CONSIDERED.speed, CONSIDERED.errors, CONSIDERED.reason].map((head) => (
                <th key={head} className="py-1 pr-3 font-normal">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {considered.map(({ model, price, p50Ms, errorRate, reason }) => (
              <tr key={model} className="border-t align-top">
                <th scope="row" className="py-1 pr-3 font-medium wrap-anywhere">
                  {model}
                </th>
                <td className="py-1 pr-3 tabular-nums">{price === null ? CONSIDERED.unknown : creditNumber(price)}</td>
                <td className="py-1 pr-3 tabular-nums">{p50Ms === null ? CONSIDERED.unknown : duration(p50Ms)}</td>
                <td className="py-1 pr-3 tabular-nums">
                  {errorRate === null ? CONSIDERED.unknown : `${Math.round(errorRate * PERCENT)} %`}
                </td>
                <td className="py-1 text-muted wrap-anywhere">{reason}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
};
