import type { Organization } from "@nodeloom/client";
import { useState } from "react";
import { request } from "../../../api/client";
import { FormDialog } from "../../../parts/form";
import { useConfirmation } from "../../../parts/sign-in/password-field";
import { InputField } from "../../../ui/inputs/field";
import { say } from "../../../ui/overlays/toast";
import { DELETE_DIALOG } from "../../../messages/organizations";

export const DeleteDialog = ({ organization, email, onClose }: { organization: Organization; email: string; onClose: () => void }) => {
  const { id, name } = organization;
  const [typed, setTyped] = useState("");
  const { field, bodyOf } = useConfirmation(email);
  const submit = async (data: FormData): Promise<void> => {
    const { body } = await request("deleteOrganization", { params: { id }, body: bodyOf(data) });
    say(DELETE_DIALOG.deletionDate(name, new Date(body.erasesAt).toLocaleString()));
  };
  return (
    <FormDialog
      title={DELETE_DIALOG.delete(name)}
      action={DELETE_DIALOG.deleteOrganization}
      danger
      disabled={typed.trim() !== name}
      reads={["me", "organizations"]}
      submit={submit}
      onClose={onClose}
    >
      <ul className="list-disc space-y-1.5 pl-5 text-sm">
        <li>{DELETE_DIALOG.stepNow}</li>
        <li>{DELETE_DIALOG.stepWaiting}</li>
        <li>{DELETE_DIALOG.stepDeletion}</li>
        <li>{DELETE_DIALOG.whatStays}</li>
      </ul>
      <InputField label={DELETE_DIALOG.typeToContinue(name)} data-first value={typed} autoComplete="off" onText={setTyped} />
      {field}
    </FormDialog>
  );
};
