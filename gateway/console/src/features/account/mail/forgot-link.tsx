import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { signInMethodsQuery } from "../../../parts/sign-in/methods";

/** Link to resetting the password; hidden without mail. */
export const ForgotLink = () => {
  const { data } = useQuery(signInMethodsQuery);
  if (!data?.mail) return null;
  return (
    <Link to="/forgot-password" className="text-xs text-accent-text underline underline-offset-2">
      Forgot your password?
    </Link>
  );
};
