import { useQuery } from "@tanstack/react-query";
import { buttonClasses } from "../../ui/button";
import { signInMethodsQuery } from "./methods";
import { PROVIDER_BUTTON } from "../../messages/parts";

/** Link to the provider and back to this page; hidden if none is configured. */
export const ProviderButton = () => {
  const { data } = useQuery(signInMethodsQuery);
  if (!data?.oidc) return null;
  const returnTo = encodeURIComponent(location.pathname + location.search);
  return (
    <>
      <p className="my-4 flex items-center gap-3 text-xs text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
        {PROVIDER_BUTTON.or}
      </p>
      <a href={`/api/auth/oidc/start?returnTo=${returnTo}`} className={`${buttonClasses("secondary")} w-full justify-center`}>
        {PROVIDER_BUTTON.signInWith(data.oidc.name)}
      </a>
    </>
  );
};
