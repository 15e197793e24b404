import type { Price } from "@nodeloom/kernel";
import type { models } from "@nodeloom/proto";

/** A registered price in the kernel's form; undefined where it has no basis. */
export const readPrice = (stored: models.Price | undefined): Price | undefined => {
  const basis = stored?.basis;
  switch (basis?.$case) {
    case "perRunMicroUsd":
      return { basis: "run", microUsd: basis.value };
    case "perImageMicroUsd":
      return { basis: "image", microUsd: basis.value };
    case "perSecondMicroUsd":
      return { basis: "second", microUsd: basis.value };
    case "perThousandCharactersMicroUsd":
      return { basis: "characters", microUsdPerThousand: basis.value };
    case "tokens": {
      const { inputMicroUsdPerMillion, outputMicroUsdPerMillion } = basis.value;
      return { basis: "tokens", inputMicroUsdPerMillion, outputMicroUsdPerMillion };
    }
    case undefined:
      return undefined;
  }
};
