import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog, ShownOnceDialog } from "../../parts/form";
import { Code } from "../../ui/copy";
import { Field, InputField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { RoleSelect } from "./role-select";
import { ROLE_WORDS, type Role } from "./roles";
import { COMMON } from "../../messages/common";
import { INVITE_DIALOG } from "../../messages/organizations";

/** Creates an invitation and shows its link once. */
export const InviteDialog = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const [role, setRole] = useState<Role>("editor");
  const [email, setEmail] = useState("");
  const [link, setLink] = useState<string>();
  const submit = async (): Promise<false> => {
    const emailField = email.trim() === "" ? {} : { email: email.trim() };
    setLink((await request("createInvitation", { params: { id }, body: { role, ...emailField } })).body.link);
    return false;
  };
  if (link !== undefined)
    return (
      <ShownOnceDialog title={INVITE_DIALOG.invitationLink} action={COMMON.done} onClose={onClose}>
        <Notice kind="warn" title={INVITE_DIALOG.shownOnlyOnce}>
          {INVITE_DIALOG.sendTo(email.trim())}
        </Notice>
        <Code text={link} label={INVITE_DIALOG.link} wrap />
      </ShownOnceDialog>
    );
  return (
    <FormDialog
      title={INVITE_DIALOG.inviteAMember}
      width="md"
      action={INVITE_DIALOG.createLink}
      reads={["organizations"]}
      submit={submit}
      onClose={onClose}
    >
      <Field label={COMMON.role} hint={`${ROLE_WORDS[role]}.`}>
        {() => <RoleSelect label={COMMON.role} value={role} onChange={setRole} />}
      </Field>
      <InputField
        label={COMMON.email}
        hint={INVITE_DIALOG.emailHint}
        type="email"
        maxLength={254}
        autoComplete="off"
        placeholder={INVITE_DIALOG.graceExampleCom}
        value={email}
        onText={setEmail}
      />
    </FormDialog>
  );
};
