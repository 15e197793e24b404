/** The owner of the platform's own secrets. */
export const PLATFORM_OWNER = "platform";
