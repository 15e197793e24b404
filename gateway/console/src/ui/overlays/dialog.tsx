import { X } from "lucide-react";
import { useEffect, useId, useRef, type ReactNode } from "react";
import { IconButton } from "../button";
import { classes } from "../classes";
import { TipHome } from "./tip";
import { Toaster } from "./toast";
import { COMMON } from "../../messages/common";

const WIDTHS = { sm: "max-w-md", md: "max-w-xl", lg: "max-w-4xl", full: "max-w-[90rem]" } as const;

const FIRST_FIELD = ":is(input, textarea, select):not(:disabled)";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Buttons at the bottom. */
  actions?: ReactNode;
  width?: keyof typeof WIDTHS;
  /** Called before Escape or the backdrop closes the dialog; false keeps it open. */
  mayClose?: () => boolean;
}

/** A modal dialog based on the browser's own, which keeps focus inside and makes the rest inert. Render it only while it is open. */
export const Dialog = ({ title, onClose, children, actions, width = "sm", mayClose }: DialogProps) => {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) {
      dialog.showModal();
      // The browser would focus the close button, but the first field is more useful.
      (dialog.querySelector<HTMLElement>("[data-first]") ?? dialog.querySelector<HTMLElement>(FIRST_FIELD))?.focus();
    }
    return () => dialog?.close();
  }, []);
  const close = (): void => {
    if (mayClose?.() !== false) onClose();
  };
  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onPointerDown={(event) => {
        if (event.target === ref.current) close();
      }}
      onKeyDown={(event) => event.stopPropagation()}
      className={classes(
        "m-auto w-[calc(100vw-1.5rem)] overflow-hidden rounded-2xl border bg-surface p-0 text-text shadow-high",
        WIDTHS[width],
      )}
    >
      <TipHome value={ref}>
        <div className="flex max-h-[min(86vh,900px)] flex-col">
          <header className="flex items-center justify-between gap-3 border-b px-5 py-3">
            <h2 id={titleId} className="min-w-0 truncate text-base font-semibold">
              {title}
            </h2>
            <IconButton icon={X} label={COMMON.close} size="sm" onClick={close} />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {actions !== undefined && <footer className="flex flex-wrap justify-end gap-2 border-t bg-page/60 px-5 py-3">{actions}</footer>}
        </div>
        {/* The page's own messages stand under an open dialog, where nothing can be pressed. */}
        <Toaster />
      </TipHome>
    </dialog>
  );
};
