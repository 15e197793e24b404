import { useRouter } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import type { ComponentType } from "react";

/** How a page stands in the menu; its route carries it. Pages without an order are reached from others. */
declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    title?: string;
    icon?: LucideIcon;
    order?: number;
    /** Beside the title in the menu. */
    Aside?: ComponentType<{ compact: boolean }>;
    /** Where the menu leads, for a route with parameters. */
    to?: string;
    /** The menu under the account instead of the one beside the page. */
    inAccountMenu?: boolean;
    forAdmins?: boolean;
  }
}

export interface MenuPage {
  to: string;
  title: string;
  icon: LucideIcon;
  order: number;
  Aside?: ComponentType<{ compact: boolean }>;
  inAccountMenu?: boolean;
  forAdmins?: boolean;
}

/** The pages of the menus, in their order. */
export const usePages = (): readonly MenuPage[] =>
  Object.values(useRouter().routesById)
    .flatMap(({ fullPath, options: { staticData } }) => {
      if (staticData?.title === undefined || staticData.icon === undefined || staticData.order === undefined) return [];
      return [{ to: fullPath as string, ...staticData } as MenuPage];
    })
    .sort((a, b) => a.order - b.order);
