/** A part of a URL without its percent-encoding; as it is if a % in it stands before other signs than two hex digits. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
