/** Only button of these pages, without the console's tooltips. */
import { PARTS } from "../messages/visitor";
export const PRIMARY =
  "inline-flex min-h-10 items-center justify-center rounded-lg bg-accent px-5 text-sm font-medium text-on-accent hover:bg-accent-hover disabled:cursor-not-allowed disabled:opacity-55";

export const Failure = ({ title }: { title: string }) => (
  <div role="alert">
    <h1 className="text-xl font-semibold">{title}</h1>
    <p className="mt-2 text-sm text-muted">{PARTS.gone}</p>
  </div>
);
