/** What requests showed of a facet: its value, or the values that they leave open. */
export type Shown = string | { readonly oneOf: readonly string[] }
