import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { signInMethodsQuery } from "../../../parts/sign-in/methods";
import { FORGOT_LINK } from "../../../messages/account";

/** Link to the page that resets the password; hidden if mail isn't configured. */
export const ForgotLink = () => {
  const { data } = useQuery(signInMethodsQuery);
  if (!data?.mail) return null;
  return (
    <Link to="/forgot-password" className="text-xs text-accent-text underline underline-offset-2">
      {FORGOT_LINK.forgotYourPassword}
    </Link>
  );
};
