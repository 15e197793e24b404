import { create } from "zustand";

export type Theme = "light" | "dark" | "system";
const KEY = "nodeloom.theme";

const stored = (): Theme => {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";
  }
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const show = (theme: Theme): void => {
  document.documentElement.dataset.theme = theme === "dark" || (theme === "system" && dark.matches) ? "dark" : "light";
};

export const useTheme = create<{ theme: Theme; choose: (theme: Theme) => void }>((set) => ({
  theme: stored(),
  choose: (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Without storage, the theme lasts until the page is closed.
    }
    show(theme);
    set({ theme });
  },
}));
dark.addEventListener("change", () => show(useTheme.getState().theme));
