/** Which of two mistakes the service found first, as a status, or the statuses that fit. */
export type SeenFirst = string | { readonly oneOf: readonly string[] }
