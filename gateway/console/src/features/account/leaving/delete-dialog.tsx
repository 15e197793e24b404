import type { FormEvent } from "react";
import { request } from "../../../api/client";
import { useWork } from "../../../api/use-work";
import { Button } from "../../../ui/button";
import { Notice } from "../../../ui/notice";
import { Dialog } from "../../../ui/overlays/dialog";
import { say } from "../../../ui/overlays/toast";
import { PasswordField } from "../../../parts/sign-in/password-field";
import { useHasPassword } from "../../../parts/sign-in/has-password";

const FORM = "delete-account";

/** What goes, what stays, and the password, where the account has one. */
export const DeleteDialog = ({ email, onClose }: { email: string; onClose: () => void }) => {
  const { busy, failure, act } = useWork<"delete">();
  const hasPassword = useHasPassword();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const password = new FormData(event.currentTarget).get("password");
    void act("delete", async () => {
      const { body } = await request("deleteAccount", { body: hasPassword ? { password: String(password) } : {} });
      say(`The account is deleted on ${new Date(body.erasesAt).toLocaleString()}, unless you take that back.`);
      onClose();
    });
  };
  return (
    <Dialog
      title="Delete the account"
      onClose={onClose}
      actions={
        <Button type="submit" form={FORM} variant="danger" busy={busy !== undefined}>
          Delete the account
        </Button>
      }
    >
      <form id={FORM} className="flex flex-col gap-4 text-sm" onSubmit={submit}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        <ul className="list-disc space-y-1.5 pl-5">
          <li>Now: what runs is cancelled, and nothing can be run any more.</li>
          <li>For some days you can sign in and take it back. The date is shown here.</li>
          <li>Then everything goes: workflows, templates, runs, files, keys, secrets, schedules, hooks, credits that are left.</li>
          <li>
            What stays: the amounts of the ledger and who did what in the audit, with an id instead of you. Names of workflows stay taken.
          </li>
        </ul>
        {hasPassword ? (
          <PasswordField email={email} />
        ) : (
          <p className="text-muted">This account has no password: sign in again within ten minutes before you delete it.</p>
        )}
      </form>
    </Dialog>
  );
};
