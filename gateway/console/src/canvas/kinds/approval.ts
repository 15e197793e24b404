import { UserCheck } from "lucide-react";
import { type Look } from "./look";
import { APPROVAL } from "../../messages/canvas";

export const approval: Look = {
  type: "approval",
  order: 14,
  title: APPROVAL.approval,
  group: "data",
  icon: UserCheck,
  id: "approval",
  description: APPROVAL.summary,
  data: { title: APPROVAL.approveThis, timeoutHours: 72, onTimeout: "reject" },
  summary: ({ timeoutHours }) => APPROVAL.waitsAtMost(typeof timeoutHours === "number" ? timeoutHours : 72),
};
