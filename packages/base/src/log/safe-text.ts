/**
 * Text of any origin made fit for a log line or a message: at most `maxLength` UTF-16 units (then cut, with a note of
 * the full length), and well formed: a lone surrogate, which strict JSON and UTF-8 readers refuse, becomes U+FFFD.
 */
export function boundedText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length} characters)` : text;
  return cut.replace(/\p{Surrogate}/gu, '\u{FFFD}');
}

/**
 * Hides what foreign error texts may carry: bearer and basic credentials, JSON Web Tokens, the query part of signed URLs, passwords
 * inside URLs. A second line of defence: our own messages must not contain them to begin with. Bound the text first.
 */
export function redactSecrets(text: string): string {
  return text
    .replace(/\beyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?/g, '[redacted]')
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [redacted]')
    .replace(/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"']+@/gi, '$1[redacted]@')
    .replace(/(\bhttps?:\/\/[^\s?"'<>]*)\?[^\s"'<>]+/gi, '$1?[redacted]');
}
