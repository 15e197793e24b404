import type { Organization } from "@nodeloom/client";
import { useState, type FormEvent } from "react";
import { request } from "../../../api/client";
import { useWork } from "../../../api/use-work";
import { Button } from "../../../ui/button";
import { Field, Input } from "../../../ui/inputs/field";
import { Notice } from "../../../ui/notice";
import { Dialog } from "../../../ui/overlays/dialog";
import { say } from "../../../ui/overlays/toast";
import { useHasPassword } from "../../../parts/sign-in/has-password";
import { PasswordField } from "../../../parts/sign-in/password-field";

const FORM = "delete-organization";

/** What goes, what stays, the organization's name, and the owner's password, where the account has one. */
export const DeleteDialog = ({ organization, email, onClose }: { organization: Organization; email: string; onClose: () => void }) => {
  const { id, name } = organization;
  const { busy, failure, act } = useWork<"delete">("me", "organizations");
  const [typed, setTyped] = useState("");
  const hasPassword = useHasPassword();
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const password = new FormData(event.currentTarget).get("password");
    void act("delete", async () => {
      const { body } = await request("deleteOrganization", { params: { id }, body: hasPassword ? { password: String(password) } : {} });
      say(`${name} is deleted on ${new Date(body.erasesAt).toLocaleString()}, unless an owner keeps it.`);
      onClose();
    });
  };
  return (
    <Dialog
      title={`Delete ${name}`}
      onClose={onClose}
      actions={
        <Button type="submit" form={FORM} variant="danger" busy={busy !== undefined} disabled={typed.trim() !== name}>
          Delete the organization
        </Button>
      }
    >
      <form id={FORM} className="flex flex-col gap-4 text-sm" onSubmit={submit}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        <ul className="list-disc space-y-1.5 pl-5">
          <li>Now: what runs is cancelled, and nothing can be run for it any more. Its owners are mailed.</li>
          <li>For some days members can look around, and any owner can keep it. The date is shown here.</li>
          <li>Then it is gone for all members, with workflows, files, runs, keys, secrets, schedules, hooks and credits that are left.</li>
          <li>What stays: the amounts of the ledger and who did what in the audit, by ids alone. Names of workflows stay taken.</li>
        </ul>
        <Field label={`Type ${name} to go on`}>
          {(attributes) => (
            <Input {...attributes} data-first value={typed} autoComplete="off" onChange={({ target }) => setTyped(target.value)} />
          )}
        </Field>
        {hasPassword ? (
          <PasswordField email={email} />
        ) : (
          <p className="text-muted">Your account has no password: sign in again within ten minutes before you delete it.</p>
        )}
      </form>
    </Dialog>
  );
};
