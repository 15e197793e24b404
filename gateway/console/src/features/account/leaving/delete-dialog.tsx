import { request } from "../../../api/client";
import { FormDialog } from "../../../parts/form";
import { useConfirmation } from "../../../parts/sign-in/password-field";
import { say } from "../../../ui/overlays/toast";

export const DeleteDialog = ({ email, onClose }: { email: string; onClose: () => void }) => {
  const { field, bodyOf } = useConfirmation(email);
  const submit = async (data: FormData): Promise<void> => {
    const { body } = await request("deleteAccount", { body: bodyOf(data) });
    say(`The account is deleted on ${new Date(body.erasesAt).toLocaleString()}, unless you take that back.`);
  };
  return (
    <FormDialog title="Delete the account" action="Delete the account" danger reads={["me"]} submit={submit} onClose={onClose}>
      <ul className="list-disc space-y-1.5 pl-5 text-sm">
        <li>Now: what runs is cancelled, and nothing can be run any more.</li>
        <li>For some days you can sign in and take it back. The date is shown here.</li>
        <li>Then everything goes: workflows, templates, runs, files, keys, secrets, schedules, hooks, credits that are left.</li>
        <li>
          What stays: the amounts of the ledger and who did what in the audit, with an id instead of you. Names of workflows stay taken.
        </li>
      </ul>
      {field}
    </FormDialog>
  );
};
