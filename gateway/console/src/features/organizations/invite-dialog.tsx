import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { messageOf, request } from "../../api/client";
import { Button } from "../../ui/button";
import { Code } from "../../ui/copy";
import { Field, Input } from "../../ui/inputs/field";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { RoleSelect } from "./role-select";
import { ROLE_WORDS, type Role } from "./roles";

/** Makes an invitation, then shows its link, which can't be shown again. */
export const InviteDialog = ({ id, onClose }: { id: string; onClose: () => void }) => {
  const client = useQueryClient();
  const [role, setRole] = useState<Role>("editor");
  const [email, setEmail] = useState("");
  const [link, setLink] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      const given = email.trim() === "" ? {} : { email: email.trim() };
      setLink((await request("createInvitation", { params: { id }, body: { role, ...given } })).body.link);
      void client.invalidateQueries({ queryKey: ["organizations", id] });
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  if (link !== undefined)
    return (
      <Dialog
        title="The link of the invitation"
        width="md"
        onClose={onClose}
        mayClose={() => false}
        actions={
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <Notice kind="warn" title="Shown this once" className="mb-4">
          Send it to {email.trim() || "the person that you invite"}. It makes one person a member, within a week.
        </Notice>
        <Code text={link} label="Link" wrap />
      </Dialog>
    );
  return (
    <Dialog
      title="Invite somebody"
      width="md"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="invite" variant="primary" busy={busy}>
            Make the link
          </Button>
        </>
      }
    >
      <form id="invite" className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        <Field label="Role" hint={`${ROLE_WORDS[role]}.`}>
          {() => <RoleSelect label="Role" value={role} onChange={setRole} />}
        </Field>
        <Field label="Email" hint="The link is mailed there where mail is set up. It works for who has it.">
          {(attributes) => (
            <Input
              {...attributes}
              type="email"
              maxLength={254}
              autoComplete="off"
              placeholder="grace@example.com"
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
};
