/** Checks of what others say of storage, before it becomes part of a host's name or of a request's headers. */

export function isServerAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

export function isRegionName(text: string): boolean {
  return /^[a-z0-9-]{1,63}$/i.test(text);
}

export function isCredentialText(text: string): boolean {
  return /^[\x20-\x7e]+$/.test(text);
}
