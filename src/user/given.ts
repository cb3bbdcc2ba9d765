/** The properties that have a value: an optional property is left out, never undefined. */
export function given<Of extends object>(
  of: Of,
): { [Name in keyof Of]?: Exclude<Of[Name], undefined> } {
  const entries = Object.entries(of).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Of]?: Exclude<Of[Name], undefined> }
}
