/** Replaces the key in stored evidence. */
export const keyPlaceholder = '$ASSAY_API_KEY'

/** Replaces a deliberately wrong key in stored evidence. The wrong key itself would reveal the real one. */
export const spoiledKeyPlaceholders = {
  altered: `${keyPlaceholder}-with-its-last-character-changed`,
  recased: `${keyPlaceholder}-with-upper-and-lower-case-swapped`,
} as const
