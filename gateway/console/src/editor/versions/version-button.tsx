import { Rocket } from "lucide-react";
import { classes } from "../../ui/classes";
import { Tip } from "../../ui/overlays/tip";
import { useDocument, useEditor } from "../context";
import { isAhead, stateWords } from "./state";
import { VERSION_BUTTON } from "../../messages/editor/version-state";

/** Version that callers run; opens the list of versions. */
export const VersionButton = () => {
  const { ui } = useEditor();
  const published = useDocument((state) => state.published);
  const ahead = useDocument(isAhead);
  return (
    <Tip text={stateWords(published, ahead)}>
      <button
        type="button"
        className={classes(
          "flex h-7 shrink-0 items-center gap-1.5 rounded-lg px-2 text-xs font-medium whitespace-nowrap max-sm:hidden",
          ahead ? "bg-warn-soft text-warn" : "text-muted hover:bg-hover hover:text-text",
        )}
        onClick={() => ui.setState({ overlay: "versions" })}
      >
        <Rocket className="size-3.5" aria-hidden />
        {published.production === null ? VERSION_BUTTON.publish : VERSION_BUTTON.version(published.production)}
        {ahead && <span className="max-lg:sr-only">{VERSION_BUTTON.changedSincePublishing}</span>}
      </button>
    </Tip>
  );
};
