import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { Button } from "../../ui/button";
import { say } from "../../ui/overlays/toast";
import { Card } from "../../ui/page";
import { Time } from "../../ui/time";
import { PasswordField } from "../../parts/sign-in/password-field";

/** Links or unlinks the provider, confirmed by the password. */
const LinkDialog = ({ email, name, isLinked, onClose }: { email: string; name: string; isLinked: boolean; onClose: () => void }) => {
  const submit = async (data: FormData): Promise<void> => {
    const password = String(data.get("password"));
    if (!isLinked) return location.assign((await request("linkOidc", { body: { password, returnTo: location.pathname } })).body.url);
    await request("unlinkOidc", { body: { password } });
    say("The account is not linked any more.");
  };
  return (
    <FormDialog
      title={isLinked ? `End the link to ${name}` : `Link to ${name}`}
      action={isLinked ? "End the link" : "Go on"}
      danger={isLinked}
      reads={["oidc"]}
      submit={submit}
      onClose={onClose}
    >
      <PasswordField email={email} />
    </FormDialog>
  );
};

/** Provider sign-in of the account; hidden if none is configured. */
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
