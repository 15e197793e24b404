import { SignInPage } from "../features/account/sign-in-page";
import { PlaygroundPage } from "../features/playground/playground-page";

/** A public playground with a sign-in form under its own address. */
export const PlaygroundRoute = () => <PlaygroundPage signIn={<SignInPage suspended={false} />} />;
