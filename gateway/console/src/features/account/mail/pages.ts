/** One chunk for the pages of mailed links, because each chunk makes the first page of the console larger. */
export { ForgotPage } from "./forgot-page";
export { UnsubscribePage } from "./unsubscribe-page";
export { VerifyPage } from "./verify-page";
