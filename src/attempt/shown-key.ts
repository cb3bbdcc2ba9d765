/** How the key stands in stored evidence. */
export const keyPlaceholder = '$ASSAY_API_KEY'

/** How a key that was sent spoiled stands there: never one change away from the real key. */
export const spoiledKeyPlaceholders = {
  altered: `${keyPlaceholder}-with-its-last-character-changed`,
  recased: `${keyPlaceholder}-with-upper-and-lower-case-swapped`,
} as const
