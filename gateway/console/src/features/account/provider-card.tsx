import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/client";
import { FormDialog } from "../../parts/form";
import { Button } from "../../ui/button";
import { say } from "../../ui/overlays/toast";
import { Card } from "../../ui/page";
import { Time } from "../../ui/time";
import { PasswordField } from "../../parts/sign-in/password-field";
import { COMMON } from "../../messages/common";
import { PROVIDER_CARD } from "../../messages/account";

/** Links or unlinks the provider after the password is confirmed. */
const LinkDialog = ({ email, name, isLinked, onClose }: { email: string; name: string; isLinked: boolean; onClose: () => void }) => {
  const submit = async (data: FormData): Promise<void> => {
    const password = String(data.get("password"));
    if (!isLinked) return location.assign((await request("linkOidc", { body: { password, returnTo: location.pathname } })).body.url);
    await request("unlinkOidc", { body: { password } });
    say(PROVIDER_CARD.accountUnlinked);
  };
  return (
    <FormDialog
      title={isLinked ? PROVIDER_CARD.unlink(name) : PROVIDER_CARD.link(name)}
      action={isLinked ? PROVIDER_CARD.confirmUnlink : COMMON.continue}
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
    <Card title={PROVIDER_CARD.signInWith(data.name)}>
      <div className="flex flex-col items-start gap-4 text-sm">
        <p className="text-muted">
          {isLinked ? (
            <>
              {PROVIDER_CARD.linked} <Time iso={data.linkedAt} />.
            </>
          ) : (
            PROVIDER_CARD.linkHint(data.name)
          )}
        </p>
        <Button onClick={() => setAsking(true)}>{isLinked ? PROVIDER_CARD.confirmUnlink : PROVIDER_CARD.confirmLink}</Button>
      </div>
      {asking && <LinkDialog email={email} name={data.name} isLinked={isLinked} onClose={() => setAsking(false)} />}
    </Card>
  );
};
