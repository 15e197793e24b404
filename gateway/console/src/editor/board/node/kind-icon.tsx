import { callsTransform } from "@nodeloom/kernel/graph";
import type { LucideProps } from "lucide-react";
import { lazy, Suspense } from "react";
import type { Kind } from "../../../canvas/kinds";
import { textOf } from "../../../canvas/kinds/look";

/** Not among the lazy panels, because two of them draw this icon. */
const OperationIcon = lazy(async () => ({ default: (await import("../extras")).OperationIcon }));

interface KindIconProps extends LucideProps {
  kind: Kind;
  /** Settings of the node: each file operation has its own icon. */
  data: Readonly<Record<string, unknown>>;
}

/** Icon of a node's kind or operation. */
export const KindIcon = ({ kind, data, ...props }: KindIconProps) => {
  const icon = <kind.icon {...props} aria-hidden />;
  if (!callsTransform(kind.type)) return icon;
  return (
    <Suspense fallback={icon}>
      <OperationIcon operation={textOf(data.operation)} {...props} aria-hidden />
    </Suspense>
  );
};
