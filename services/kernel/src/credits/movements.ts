export const MOVEMENT_KINDS = ["topup", "plan_renewal", "plan_expiry", "hold", "capture", "release", "grant", "adjust"] as const;
export type MovementKind = (typeof MOVEMENT_KINDS)[number];
