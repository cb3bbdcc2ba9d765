/** For a fault, which other rules it breaks, too, and why that is no accident. */
export const consequences: Readonly<
  Record<string, { readonly rules: readonly string[]; readonly because: string }>
> = {}
