import { callsTransform } from "@nodeloom/kernel/graph";
import type { LucideProps } from "lucide-react";
import { Suspense } from "react";
import type { Kind } from "../../../canvas/kinds";
import { textOf } from "../../../canvas/kinds/look";
import { OperationIcon } from "../../panels/lazy-panels";

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
