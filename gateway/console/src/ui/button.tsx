import { LoaderCircle, type LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { classes } from "./classes";
import { Tip } from "./overlays/tip";

const VARIANTS = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover",
  secondary: "border border-line-strong/60 bg-surface text-text hover:bg-hover",
  ghost: "text-muted hover:bg-hover hover:text-text",
  danger: "bg-bad-fill text-on-accent hover:brightness-110",
} as const;
const SIZES = { sm: "h-7 gap-1.5 px-2.5 text-[13px]", md: "h-9 gap-2 px-3.5 text-sm" } as const;

export interface ButtonProps extends ComponentProps<"button"> {
  variant?: keyof typeof VARIANTS;
  size?: keyof typeof SIZES;
  icon?: LucideIcon;
  /** Shows a spinner and ignores clicks. */
  busy?: boolean;
}

/** A button. Its default type is "button", so that it doesn't submit a form by accident. */
export const Button = ({ variant = "secondary", size = "md", icon: Icon, busy, children, className, disabled, ...rest }: ButtonProps) => (
  <button
    type="button"
    {...rest}
    disabled={disabled === true || busy === true}
    aria-busy={busy || undefined}
    className={classes(
      "inline-flex shrink-0 items-center justify-center rounded-lg font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-55",
      VARIANTS[variant],
      SIZES[size],
      className,
    )}
  >
    {busy ? <LoaderCircle className="size-4 animate-spin" aria-hidden /> : Icon ? <Icon className="size-4" aria-hidden /> : null}
    {children}
  </button>
);

export interface IconButtonProps extends Omit<ComponentProps<"button">, "children"> {
  icon: LucideIcon;
  /** Accessible name and tooltip. */
  label: string;
  /** Shortcut in the tooltip. */
  keys?: string;
  size?: "sm" | "md";
  active?: boolean;
  tipSide?: "top" | "bottom" | "left" | "right";
}

export const IconButton = ({ icon: Icon, label, keys, size = "md", active, tipSide, className, ...rest }: IconButtonProps) => (
  <Tip text={label} keys={keys} side={tipSide}>
    <button
      type="button"
      {...rest}
      aria-label={label}
      aria-pressed={active}
      className={classes(
        "inline-flex shrink-0 items-center justify-center rounded-lg transition-colors disabled:cursor-not-allowed disabled:opacity-45",
        size === "sm" ? "size-7" : "size-9",
        active ? "bg-accent-soft text-accent-text" : "text-muted hover:bg-hover hover:text-text",
        className,
      )}
    >
      <Icon className="size-4" aria-hidden />
    </button>
  </Tip>
);

export const buttonClasses = (variant: keyof typeof VARIANTS = "secondary", size: keyof typeof SIZES = "md"): string =>
  classes(
    "inline-flex shrink-0 items-center justify-center rounded-lg font-medium whitespace-nowrap transition-colors",
    VARIANTS[variant],
    SIZES[size],
  );

export const ButtonRow = ({ children, className }: { children: ReactNode; className?: string }) => (
  <div className={classes("flex flex-wrap items-center gap-2", className)}>{children}</div>
);
