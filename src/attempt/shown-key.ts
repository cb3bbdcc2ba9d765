/** Replaces the key in stored evidence. */
export const keyPlaceholder = '$ASSAY_API_KEY'

/** Replace a spoiled key in stored evidence, because it is one change away from the real key. */
export const spoiledKeyPlaceholders = {
  altered: `${keyPlaceholder}-with-its-last-character-changed`,
  recased: `${keyPlaceholder}-with-upper-and-lower-case-swapped`,
} as const
