/** A whole number from 0 to below 2^32 that follows from a text (FNV-1a): it spreads texts evenly, and hides nothing. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
