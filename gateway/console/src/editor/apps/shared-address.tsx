import { classes } from "../../ui/classes";
import { CopyButton } from "../../ui/copy";
import { SHARED_ADDRESS } from "../../messages/editor/apps";

/** Address of a public page, with a copy button. @param path path on this site */
export const SharedAddress = ({ path, className }: { path: string; className?: string }) => {
  const address = `${location.origin}${path}`;
  return (
    <div className={classes("flex items-center gap-2 text-sm", className)}>
      <a href={path} target="_blank" rel="noopener" className="min-w-0 flex-1 truncate text-accent-text underline underline-offset-2">
        {address}
      </a>
      <CopyButton text={address} compact label={SHARED_ADDRESS.copyAddress} />
    </div>
  );
};
