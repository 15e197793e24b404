import { titled } from "../../ui/format";
import { Select } from "../../ui/inputs/field";
import { ROLE_WORDS, ROLES, type Role } from "./roles";

export interface RoleSelectProps {
  label: string;
  value: Role;
  disabled?: boolean;
  onChange: (role: Role) => void;
  className?: string;
}

export const RoleSelect = ({ label, value, disabled, onChange, className }: RoleSelectProps) => (
  <Select
    aria-label={label}
    value={value}
    disabled={disabled}
    className={className}
    title={ROLE_WORDS[value]}
    onText={(text) => onChange(text as Role)}
    options={ROLES.map((role) => [role, titled(role)] as const)}
  />
);
