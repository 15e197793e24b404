import { Pipette } from "lucide-react";
import { useId } from "react";
import { IconButton } from "../../ui/button";
import { COLOUR } from "../../messages/editor/touch";

interface Dropper {
  open: () => Promise<{ sRGBHex: string }>;
}
type WithDropper = typeof globalThis & { EyeDropper?: new () => Dropper };

/** `#rrggbb` and the share of opacity of `#rgb`, `#rrggbb` or `#rrggbbaa`. */
export const partsOf = (value: string): { colour: string; opacity: number } => {
  const digits = value.slice(1);
  const long = digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
  return { colour: `#${long.slice(0, 6)}`.toLowerCase(), opacity: long.length > 6 ? parseInt(long.slice(6), 16) / 255 : 1 };
};

/** Opaque colors have six digits. */
export const joined = (colour: string, opacity: number): string =>
  opacity >= 1
    ? colour
    : colour +
      Math.round(opacity * 255)
        .toString(16)
        .padStart(2, "0");

/** A color with its opacity, and the browser's eyedropper if it has one. */
export const ColourWell = ({
  label,
  value,
  hasOpacity = true,
  onChange,
}: {
  label: string;
  value: string;
  hasOpacity?: boolean;
  onChange: (value: string) => void;
}) => {
  const id = useId();
  const { colour, opacity } = partsOf(value);
  const { EyeDropper } = globalThis as WithDropper;
  const pick = (): void => {
    if (!EyeDropper) return;
    new EyeDropper().open().then(
      ({ sRGBHex }) => onChange(joined(sRGBHex.toLowerCase(), opacity)),
      // Escape closes the eyedropper without a color.
      () => undefined,
    );
  };
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-[13px] font-medium">
        {label}
      </label>
      <div className="flex items-center gap-2">
        <input
          id={id}
          type="color"
          className="h-11 w-14"
          value={colour}
          onChange={({ target }) => onChange(joined(target.value, opacity))}
        />
        {EyeDropper && <IconButton icon={Pipette} label={COLOUR.pick(label)} onClick={pick} />}
        {hasOpacity && (
          <>
            <input
              type="range"
              min={0}
              max={1}
              step={0.01}
              value={opacity}
              aria-label={COLOUR.opacityOf(label)}
              className="h-11 min-w-0 flex-1 accent-accent"
              onChange={({ target }) => onChange(joined(colour, Number(target.value)))}
            />
            <span className="w-10 text-right text-xs text-muted tabular-nums">{COLOUR.percent(Math.round(opacity * 100))}</span>
          </>
        )}
      </div>
    </div>
  );
};
