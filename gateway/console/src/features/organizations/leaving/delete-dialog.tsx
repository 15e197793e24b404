import type { Organization } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../../api/client";
import { FormDialog } from "../../../parts/form";
import { useConfirmation } from "../../../parts/sign-in/password-field";
import { InputField } from "../../../ui/inputs/field";
import { say } from "../../../ui/overlays/toast";

export const DeleteDialog = ({ organization, email, onClose }: { organization: Organization; email: string; onClose: () => void }) => {
  const { id, name } = organization;
  const [typed, setTyped] = useState("");
  const { field, bodyOf } = useConfirmation(email);
  const submit = async (data: FormData): Promise<void> => {
    const { body } = await request("deleteOrganization", { params: { id }, body: bodyOf(data) });
    say(`${name} is deleted on ${new Date(body.erasesAt).toLocaleString()}, unless an owner keeps it.`);
  };
  return (
    <FormDialog
      title={`Delete ${name}`}
      action="Delete the organization"
      danger
      disabled={typed.trim() !== name}
      reads={["me", "organizations"]}
      submit={submit}
      onClose={onClose}
    >
      <ul className="list-disc space-y-1.5 pl-5 text-sm">
        <li>Now: what runs is cancelled, and nothing can be run for it any more. Its owners are mailed.</li>
        <li>For some days members can look around, and any owner can keep it. The date is shown here.</li>
        <li>Then it is gone for all members, with workflows, files, runs, keys, secrets, schedules, hooks and credits that are left.</li>
        <li>What stays: the amounts of the ledger and who did what in the audit, by ids alone. Names of workflows stay taken.</li>
      </ul>
      <InputField label={`Type ${name} to go on`} data-first value={typed} autoComplete="off" onText={setTyped} />
      {field}
    </FormDialog>
  );
};
