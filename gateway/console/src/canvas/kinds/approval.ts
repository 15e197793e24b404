import { UserCheck } from "lucide-react";
import { type Look } from "./look";

export const approval: Look = {
  type: "approval",
  title: "Approval",
  group: "Data",
  icon: UserCheck,
  id: "approval",
  words:
    "approve, reject, review, human in the loop, human, person, wait, decide, decision, check, sign off, confirm, pause, wait for approval, manual approval, ask a person",
  description: "Waits for a person's yes or no",
  data: { title: "Good to go?", timeoutHours: 72, onTimeout: "reject" },
  summary: ({ timeoutHours }) => `Waits for ${typeof timeoutHours === "number" ? timeoutHours : 72} hours at most`,
};
