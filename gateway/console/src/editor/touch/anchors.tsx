import { ANCHORS } from "../../messages/editor/touch";
import { classes } from "../../ui/classes";

const GRID = ["top-left", "top", "top-right", "left", "centre", "right", "bottom-left", "bottom", "bottom-right"] as const;

/** Nine positions in a picture. @param chosen undefined if none applies */
export const Anchors = ({ chosen, onChoose }: { chosen: string | undefined; onChoose: (position: string) => void }) => (
  <fieldset>
    <legend className="mb-1.5 text-[13px] font-medium">{ANCHORS.title}</legend>
    <div className="touch-anchors">
      {GRID.map((position) => (
        <button
          key={position}
          type="button"
          aria-label={ANCHORS[position]}
          aria-pressed={position === chosen}
          className={classes("touch-anchor", position === chosen && "touch-chip-on")}
          onClick={() => onChoose(position)}
        >
          <span aria-hidden />
        </button>
      ))}
    </div>
  </fieldset>
);
