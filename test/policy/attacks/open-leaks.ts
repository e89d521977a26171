/**
 * Attacks that succeed, each with what it tells. The proof holds them to it, so that whoever closes one takes it off this list.
 */
export const openLeaks: Readonly<Record<string, string>> = {};
