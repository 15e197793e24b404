const MAX_LABEL_CHARS = 80;

/** Shortens a name chosen by a user for use in messages. */
export const shownName = (name: string): string => (name.length > MAX_LABEL_CHARS ? `${name.slice(0, MAX_LABEL_CHARS)}…` : name);
