import { TRANSITION_EVENTS } from "../../src/run/states";
import type { EventChannel, Listener } from "../../src/record/runs/channel";

/** The channel of one process. */
export const localChannel = (): Pick<EventChannel, "publish" | "onTransition"> => {
  const listeners = new Map<string, Set<Listener>>();
  return {
    publish: (id, event, row) => {
      if (!TRANSITION_EVENTS.has(event.type)) return;
      for (const listener of [...(listeners.get(id) ?? [])]) listener(event, row);
    },
    onTransition: (id, listener) => {
      listeners.set(id, (listeners.get(id) ?? new Set<Listener>()).add(listener));
      return () => void listeners.get(id)?.delete(listener);
    },
  };
};
