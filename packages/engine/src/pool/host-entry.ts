/** The program of an engine process. scripts/bundle.mjs puts its own in this place. */
export const hostEntry = new URL('../host/host-main.js', import.meta.url);
