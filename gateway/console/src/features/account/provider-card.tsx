import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { request } from "../../api/client";
import { useWork } from "../../api/use-work";
import { Button } from "../../ui/button";
import { Notice } from "../../ui/notice";
import { Dialog } from "../../ui/overlays/dialog";
import { say } from "../../ui/overlays/toast";
import { Card } from "../../ui/page";
import { Time } from "../../ui/time";
import { PasswordField } from "../../parts/sign-in/password-field";

const FORM = "provider-link";

/** Links the account to the provider, or ends that, by the password. */
const LinkDialog = ({ email, name, isLinked, onClose }: { email: string; name: string; isLinked: boolean; onClose: () => void }) => {
  const { busy, failure, act } = useWork<"send">("oidc");
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password"));
    void act("send", async () => {
      if (!isLinked) return location.assign((await request("linkOidc", { body: { password, returnTo: location.pathname } })).body.url);
      await request("unlinkOidc", { body: { password } });
      say("The account is not linked any more.");
      onClose();
    });
  };
  return (
    <Dialog
      title={isLinked ? `End the link to ${name}` : `Link to ${name}`}
      onClose={onClose}
      actions={
        <Button type="submit" form={FORM} variant={isLinked ? "danger" : "primary"} busy={busy !== undefined}>
          {isLinked ? "End the link" : "Go on"}
        </Button>
      }
    >
      <form id={FORM} className="flex flex-col gap-4" onSubmit={submit}>
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        <PasswordField email={email} />
      </form>
    </Dialog>
  );
};

/** Whether the account signs in by the provider, too; nothing where none is configured. */
export const ProviderCard = ({ email }: { email: string }) => {
  const { data } = useQuery({ queryKey: ["oidc"], queryFn: async ({ signal }) => (await request("getOidc", { signal })).body });
  const [asking, setAsking] = useState(false);
  if (!data || data.name === null) return null;
  const isLinked = data.linkedAt !== null;
  return (
    <Card title={`Sign in with ${data.name}`}>
      <div className="flex flex-col items-start gap-4 text-sm">
        <p className="text-muted">
          {isLinked ? (
            <>
              Linked <Time iso={data.linkedAt} />.
            </>
          ) : (
            `Link this account, and ${data.name} signs you in to it, whatever your address there.`
          )}
        </p>
        <Button onClick={() => setAsking(true)}>{isLinked ? "End the link" : "Link"}</Button>
      </div>
      {asking && <LinkDialog email={email} name={data.name} isLinked={isLinked} onClose={() => setAsking(false)} />}
    </Card>
  );
};
