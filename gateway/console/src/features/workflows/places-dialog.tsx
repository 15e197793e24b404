import { Picker } from "../../parts/picker";
import { PLACES } from "../../messages/workflows";
import { usePlaces } from "./places";

/** The palette of pages without a canvas. */
export const PlacesDialog = ({ onClose }: { onClose: () => void }) => {
  const { picks, onQuery } = usePlaces();
  return (
    <Picker
      title={PLACES.search}
      placeholder={PLACES.placeholder}
      picks={picks}
      empty={PLACES.noMatches}
      onQuery={onQuery}
      onClose={onClose}
    />
  );
};
