import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog, ShownOnceDialog } from "../../parts/form";
import { Code } from "../../ui/copy";
import { Field, InputField } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { RoleSelect } from "./role-select";
import { ROLE_WORDS, type Role } from "./roles";

/** Creates an invitation and shows its link once. */
export const InviteDialog = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const [role, setRole] = useState<Role>("editor");
  const [email, setEmail] = useState("");
  const [link, setLink] = useState<string>();
  const submit = async (): Promise<false> => {
    const given = email.trim() === "" ? {} : { email: email.trim() };
    setLink((await request("createInvitation", { params: { id }, body: { role, ...given } })).body.link);
    return false;
  };
  if (link !== undefined)
    return (
      <ShownOnceDialog title="The link of the invitation" action="Done" onClose={onClose}>
        <Notice kind="warn" title="Shown this once">
          Send it to {email.trim() || "the person that you invite"}. It makes one person a member, within a week.
        </Notice>
        <Code text={link} label="Link" wrap />
      </ShownOnceDialog>
    );
  return (
    <FormDialog title="Invite somebody" width="md" action="Make the link" reads={["organizations"]} submit={submit} onClose={onClose}>
      <Field label="Role" hint={`${ROLE_WORDS[role]}.`}>
        {() => <RoleSelect label="Role" value={role} onChange={setRole} />}
      </Field>
      <InputField
        label="Email"
        hint="The link is mailed there where mail is set up. It works for who has it."
        type="email"
        maxLength={254}
        autoComplete="off"
        placeholder="grace@example.com"
        value={email}
        onText={setEmail}
      />
    </FormDialog>
  );
};
