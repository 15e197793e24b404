import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { signInMethodsQuery } from "../../../parts/sign-in/methods";
import { FORGOT_LINK } from "../../../messages/account";

/** Link to resetting the password; hidden without mail. */
export const ForgotLink = () => {
  const { data } = useQuery(signInMethodsQuery);
  if (!data?.mail) return null;
  return (
    <Link to="/forgot-password" className="text-xs text-accent-text underline underline-offset-2">
      {FORGOT_LINK.forgotYourPassword}
    </Link>
  );
};
