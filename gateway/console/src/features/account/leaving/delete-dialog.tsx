import { request } from "../../../api/client";
import { FormDialog } from "../../../parts/form";
import { useConfirmation } from "../../../parts/sign-in/password-field";
import { say } from "../../../ui/overlays/toast";
import { DELETE_DIALOG } from "../../../messages/account";

export const DeleteDialog = ({ email, onClose }: { email: string; onClose: () => void }) => {
  const { field, bodyOf } = useConfirmation(email);
  const submit = async (data: FormData): Promise<void> => {
    const { body } = await request("deleteAccount", { body: bodyOf(data) });
    say(DELETE_DIALOG.deletionDate(new Date(body.erasesAt).toLocaleString()));
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
        <li>{DELETE_DIALOG.stepNow}</li>
        <li>{DELETE_DIALOG.stepWaiting}</li>
        <li>{DELETE_DIALOG.stepDeletion}</li>
        <li>{DELETE_DIALOG.whatStays}</li>
      </ul>
      {field}
    </FormDialog>
  );
};
