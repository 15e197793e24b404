import type { LucideProps } from "lucide-react";
import { media } from "../../../canvas/kinds/media";
import { OPERATION_ICONS } from "../../../canvas/operation-icons";

/** Icon of a file operation. It is apart from `KindIcon`, because the first paint doesn't need all of them. */
export const OperationIcon = ({ operation, ...props }: LucideProps & { operation: string }) => {
  const Icon = OPERATION_ICONS[operation] ?? media.icon;
  return <Icon {...props} />;
};
