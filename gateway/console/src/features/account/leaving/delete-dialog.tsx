import { request } from "../../../api/client";
import { FormDialog } from "../../../parts/form";
import { useConfirmation } from "../../../parts/sign-in/password-field";
import { say } from "../../../ui/overlays/toast";
import { DELETE_DIALOG } from "../../../messages/account";

export const DeleteDialog = ({ email, onClose }: { email: string; onClose: () => void }) => {
  const { field, bodyOf } = useConfirmation(email);
  const submit = async (data: FormData): Promise<void> => {
    const { body } = await request("deleteAccount", { body: bodyOf(data) });
    say(DELETE_DIALOG.theAccountIsDeletedOn(new Date(body.erasesAt).toLocaleString()));
  };
  return (
    <FormDialog
      title={DELETE_DIALOG.deleteAccount}
      action={DELETE_DIALOG.deleteAccount}
      danger
      reads={["me"]}
      submit={submit}
      onClose={onClose}
    >
      <ul className="list-disc space-y-1.5 pl-5 text-sm">
        <li>{DELETE_DIALOG.nowRunningWorkIsCancelled}</li>
        <li>{DELETE_DIALOG.forAFewDaysYou}</li>
        <li>{DELETE_DIALOG.thenWorkflowsTemplatesRunsFiles}</li>
        <li>{DELETE_DIALOG.ledgerAmountsAndAuditEntries}</li>
      </ul>
      {field}
    </FormDialog>
  );
};
