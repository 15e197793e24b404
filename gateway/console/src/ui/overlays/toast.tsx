import { CircleAlert, CircleCheck, X } from "lucide-react";
import { create } from "zustand";
import { classes } from "../classes";
import { TOAST } from "../../messages/notices";

const SHOWN_MS = 5_000;
const MOST = 4;

export interface Toast {
  id: number;
  kind: "ok" | "bad";
  text: string;
  action?: { label: string; run: () => void } | undefined;
}

interface Toasts {
  list: readonly Toast[];
  add: (toast: Omit<Toast, "id">) => void;
  remove: (id: number) => void;
}

let lastId = 0;

const useToasts = create<Toasts>((set, get) => ({
  list: [],
  add: (toast) => {
    lastId += 1;
    const id = lastId;
    set(({ list }) => ({ list: [...list, { ...toast, id }].slice(-MOST) }));
    setTimeout(() => get().remove(id), toast.kind === "bad" ? SHOWN_MS * 2 : SHOWN_MS);
  },
  remove: (id) => set(({ list }) => ({ list: list.filter((toast) => toast.id !== id) })),
}));

/** Shows a notice of success, with an optional undo. */
export const say = (text: string, action?: Toast["action"]): void => useToasts.getState().add({ kind: "ok", text, action });
/** Shows a notice of failure. */
export const complain = (text: string, action?: Toast["action"]): void => useToasts.getState().add({ kind: "bad", text, action });

export const Toaster = () => {
  const list = useToasts((state) => state.list);
  const remove = useToasts((state) => state.remove);
  return (
    // Not a landmark, because the page and an open dialog have one each.
    <div
      role="log"
      aria-label={TOAST.messages}
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-70 flex flex-col items-center gap-2 px-3"
    >
      {list.map(({ id, kind, text, action }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-w-lg items-center gap-2.5 rounded-xl bg-text px-3.5 py-2.5 text-sm text-page shadow-high"
        >
          {kind === "ok" ? (
            <CircleCheck className="size-4 shrink-0" aria-hidden />
          ) : (
            <CircleAlert className="size-4 shrink-0" aria-hidden />
          )}
          <span className="min-w-0 wrap-anywhere">{text}</span>
          {action && (
            <button
              type="button"
              className="shrink-0 rounded px-1.5 py-0.5 font-semibold underline underline-offset-2"
              onClick={() => {
                remove(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button
            type="button"
            aria-label={TOAST.dismiss}
            className={classes("shrink-0 rounded p-0.5 opacity-70 hover:opacity-100")}
            onClick={() => remove(id)}
          >
            <X className="size-4" aria-hidden />
          </button>
        </div>
      ))}
    </div>
  );
};
